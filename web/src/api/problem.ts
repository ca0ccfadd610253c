/** A refusal of the hub, or that it cannot be reached. `message` is a sentence for the person. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    readonly hint?: string,
    readonly fields: ReadonlyArray<{ field: string; message: string }> = [],
  ) {
    super(detail);
  }

  /** Whether the same request may succeed a little later. */
  get isPassing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

export function unreachable(): Problem {
  return new Problem(0, "unreachable", "Can't reach the server.");
}

/** Whether the message of a field stands alone; others continue the name of the field. */
export function isSentence(message: string): boolean {
  return /^[A-Z`]/.test(message);
}

/** What a refusal says. Proxies in between answer with anything. */
export function problemOf(status: number, body: unknown): Problem {
  const said = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
  const text = (name: string) => (typeof said[name] === "string" ? (said[name] as string) : undefined);
  const fields = Array.isArray(said["errors"]) ? (said["errors"] as Array<{ field: string; message: string }>) : [];
  const detail = fields.length
    ? fields.map(({ field, message }) => (isSentence(message) ? message : `${field} ${message}`.trim())).join("; ")
    : (text("detail") ?? `The server returned status ${status}.`);
  return new Problem(status, text("code") ?? "unknown", detail, text("hint"), fields);
}

/** Anything that was thrown, as a sentence. */
export function sentenceOf(error: unknown): string {
  if (error instanceof Problem) return error.hint ? `${error.message} ${error.hint}` : error.message;
  return error instanceof Error ? error.message : String(error);
}
