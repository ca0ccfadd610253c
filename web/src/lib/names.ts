import { briefOf } from "./cut";
import { spelled } from "./hidden";

/** Letters that are written from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const LONGEST = 80;

/**
 * Somebody's name where it stands alone. Anybody can choose any display name, so the handle is always there: "Ada (@ada)", or "@ada" if
 * they have not chosen one.
 */
export function fullName({ name, display_name }: { name: string; display_name?: string }): string {
  const shown = display_name?.trim() ?? "";
  if (!shown || shown.toLowerCase() === name.toLowerCase()) return `@${name}`;
  const visible = spelled(briefOf(shown.slice(0, LONGEST), LONGEST * 3));
  // Isolated, so that it cannot move the handle.
  return `${RIGHT_TO_LEFT.test(visible) ? `\u2068${visible}\u2069` : visible} (@${name})`;
}
