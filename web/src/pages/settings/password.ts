const MIN_BYTES = 8;
/** bcrypt ignores what comes after it, so the hub refuses longer ones. */
const MAX_BYTES = 72;

export const PASSWORD_RULE = `At least ${MIN_BYTES} characters.`;

/** Why the hub would refuse a password. Nothing is said of one that is not typed yet. */
export function passwordFault(password: string): string | undefined {
  if (password === "") return undefined;
  const bytes = new TextEncoder().encode(password).length;
  if (bytes < MIN_BYTES) return `Use at least ${MIN_BYTES} characters.`;
  if (bytes > MAX_BYTES) return `Too long: ${bytes} bytes, at most ${MAX_BYTES} are allowed.`;
  return password.includes("\0") ? "NUL characters are not allowed." : undefined;
}
