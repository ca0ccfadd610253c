const MIN_BYTES = 8;
/** bcrypt ignores what comes after it, so the hub refuses longer ones. */
const MAX_BYTES = 72;

export const PASSWORD_RULE = `${MIN_BYTES} to ${MAX_BYTES} bytes: letters and digits are one each, other characters up to four.`;

/** Why the hub would refuse a password. Nothing is said of one that is not typed yet. */
export function passwordFault(password: string): string | undefined {
  if (password === "") return undefined;
  const bytes = new TextEncoder().encode(password).length;
  if (bytes < MIN_BYTES) return `It has ${bytes} bytes and needs at least ${MIN_BYTES}.`;
  if (bytes > MAX_BYTES) return `It has ${bytes} bytes and may have at most ${MAX_BYTES}.`;
  return password.includes("\0") ? "It must not contain a NUL character." : undefined;
}
