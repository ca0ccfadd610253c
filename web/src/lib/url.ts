/** A text as an address, or null if it is none. Not with `URL.canParse`: that of Node 20, which runs the tests, errs once it is compiled. */
export function urlOf(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
