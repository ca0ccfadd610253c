import { shellWord } from "../../lib/shell";

export interface Invite {
  note: string;
  role: "member" | "admin";
  /** How many days it is valid. */
  days: number;
}

/** What means nothing to a shell between double quotes, which are easier to read. */
const HARMLESS = /^[\p{L}\p{M}\p{N} ,.;:()@/+_'-]*$/u;

/** The command that prints an invitation. Characters that nobody sees are left out, so that what is pasted is what was shown. */
export function inviteCommand({ note, role, days }: Invite): string {
  const visible = note.replaceAll(/\p{C}/gu, "").trim();
  const word = HARMLESS.test(visible) ? `"${visible}"` : shellWord(visible);
  // A word that begins with a dash would be taken for an option.
  const given = visible ? ` --for${visible.startsWith("-") ? "=" : " "}${word}` : "";
  return `stoa admin users invite${given} --role ${role} --valid ${days}d`;
}
