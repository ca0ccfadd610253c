/** What `first.js` asked for while the scripts of the page were on their way. */
interface Ahead {
  /** The conversation at the address of the page, if there is one. */
  kind?: "channels" | "dm";
  name?: string;
  answers: Map<string, Promise<Response>>;
}

declare global {
  interface Window {
    ahead?: Ahead;
  }
}

/** Asks the hub, or takes the answer if it was asked already. Each answer is there for one. */
export function fetchOrTake(request: Request): Promise<Response> {
  const answers = window.ahead?.answers;
  const found = request.method === "GET" ? answers?.get(request.url) : undefined;
  if (!found) return fetch(request);
  answers?.delete(request.url);
  return found;
}

/** The conversation that was asked for. */
export function conversationAhead(): { kind: "channel" | "dm"; name: string } | undefined {
  const { kind, name } = window.ahead ?? {};
  return kind && name ? { kind: kind === "dm" ? "dm" : "channel", name } : undefined;
}
