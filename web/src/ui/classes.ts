/** Joins class names, without those that are off. */
export function classes(...names: Array<string | false | null | undefined>): string {
  return names.filter(Boolean).join(" ");
}
