import { hasHidden } from "../lib/hidden";

/** Whether a text shows as what it is: one paragraph without a mark, an address or a name that is called. */
export function isPlain(text: string): boolean {
  return /^[\p{L}\p{N}][\p{L}\p{N}\p{Zs},;!?'"()…–—]*\.?$/u.test(text) && !/^\d+[.)]/.test(text) && !/ {2}|\p{Zs}$/u.test(text) && !hasHidden(text);
}
