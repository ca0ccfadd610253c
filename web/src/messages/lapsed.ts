import type { Message } from "../api/types";
import { listed } from "./reactions";

/** Whose approval was of an earlier text: oneself first, then the others. */
function lapsedNames(message: Message, me: string | undefined): string[] {
  const handles = message.deleted_at ? [] : (message.lapsed_approvals ?? []);
  const others = handles.filter((name) => name !== me).map((name) => `@${name}`);
  return handles.length > others.length ? ["you", ...others] : others;
}

/** Says that a message was edited after it was approved; undefined if no approval was lost. */
export function lapsedWords(message: Message, me: string | undefined): string | undefined {
  const names = lapsedNames(message, me);
  return names.length > 0 ? `Edited since ${listed(names)} approved` : undefined;
}
