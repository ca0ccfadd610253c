import { store } from "../lib/store";

/** A text that is shown in a view of its own, because it is too long to be drawn in place. */
export interface Whole {
  title: string;
  text: string;
  /** It is Markdown. Other texts are shown as they are. */
  isMarkdown?: boolean;
}

export const whole = store<Whole | null>(null);
