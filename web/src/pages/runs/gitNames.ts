/** What git writes after a backslash for bytes that have a letter. */
const LETTERS: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, "\\": 92 };

/**
 * The name in quotes at the beginning of a text; null if none begins there or it is not closed. Git writes names with special characters
 * like that, each byte that is not plain as an octal number.
 */
export function unquoted(text: string): string | null {
  if (text[0] !== '"') return null;
  const bytes: number[] = [];
  for (let at = 1; at < text.length; at++) {
    const sign = String.fromCodePoint(text.codePointAt(at)!);
    if (sign === '"') return new TextDecoder().decode(new Uint8Array(bytes));
    if (sign !== "\\") {
      bytes.push(...new TextEncoder().encode(sign));
      at += sign.length - 1;
      continue;
    }
    const octal = /^[0-3][0-7]{2}/.exec(text.slice(at + 1, at + 4))?.[0];
    if (octal) {
      bytes.push(Number.parseInt(octal, 8));
      at += 3;
    } else {
      bytes.push(LETTERS[text[at + 1] ?? ""] ?? 63);
      at++;
    }
  }
  return null;
}
