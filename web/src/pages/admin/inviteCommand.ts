import { shellWord } from "../../lib/shell";

export interface Invite {
  /** The admin who invites; the sign-up page names them. */
  from: string;
  note: string;
  role: InvitedRole;
  /** How long it is valid, like `7d`. */
  valid: string;
}

export type InvitedRole = "member" | "admin";

/** How long an invitation may be valid, the usual time first. One for an administrator is dangerous in wrong hands, so the hub allows a day. */
export const VALIDITIES: Record<InvitedRole, ReadonlyArray<readonly [valid: string, words: string]>> = {
  member: [["7d", "7 days"], ["1d", "1 day"], ["3d", "3 days"], ["14d", "14 days"], ["30d", "30 days"]],
  admin: [["24h", "24 hours"], ["1h", "1 hour"], ["8h", "8 hours"]],
};

/** What means nothing to a shell between double quotes, which are easier to read. */
const HARMLESS = /^[\p{L}\p{M}\p{N} ,.;:()@/+_'-]*$/u;

/** The command that prints an invitation. Characters that nobody sees are left out, so that what is pasted is what was shown. */
export function inviteCommand({ from, note, role, valid }: Invite): string {
  const visible = note.replaceAll(/\p{C}/gu, "").trim();
  const word = HARMLESS.test(visible) ? `"${visible}"` : shellWord(visible);
  // A word that begins with a dash would be taken for an option.
  const given = visible ? ` --for${visible.startsWith("-") ? "=" : " "}${word}` : "";
  return `stoa admin users invite${given} --from ${from} --role ${role} --valid ${valid}`;
}
