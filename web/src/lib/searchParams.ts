/** A word in the address of a page. Names made of digits only arrive as numbers. */
export function textParam(value: unknown): string | undefined {
  const text = typeof value === "number" ? String(value) : value;
  return typeof text === "string" && text !== "" ? text : undefined;
}

/** A moment in the address of a page. Anything else is ignored. */
export function momentParam(value: unknown): string | undefined {
  const text = textParam(value);
  return text && !Number.isNaN(new Date(text).getTime()) ? text : undefined;
}

/** A number above 0 in the address of a page. Anything else is ignored. */
export function countParam(value: unknown): number | undefined {
  const number = Number(value);
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}
