import { source } from "../messages/source";
import { openedProfile } from "../profiles/opened";
import { shortcutHelp } from "./help";
import { making } from "./making";
import { palette } from "./palette";

/** Where keys mean something else. */
const ELSEWHERE = "input, textarea, select, [contenteditable], [role=menu], [role=dialog]";

/**
 * Whether keys are not for the page itself: one writes, or something lies over it. That is loaded when it is first wanted, and keys are
 * for it from then on.
 */
export function areKeysElsewhere(target: EventTarget | null): boolean {
  const isWithin = target instanceof Element && target.closest(ELSEWHERE) !== null;
  return isWithin || palette.get() || making.get() !== null || source.get() !== null || openedProfile.get() !== null || shortcutHelp.get();
}
