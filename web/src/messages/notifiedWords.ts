interface Known {
  name: string;
  kind: string;
}

const CALLED = /(?<![\w@/.-])@([A-Za-z0-9_-]+)/g;

/** Which agents of a channel get a text as soon as it is sent, because it mentions them. */
export function notifiedWords(text: string, members: readonly Known[]): string {
  const called = new Set([...text.matchAll(CALLED)].map(([, name]) => name!.toLowerCase()));
  const names = members.filter(({ name, kind }) => kind === "agent" && called.has(name.toLowerCase())).map(({ name }) => `@${name}`);
  const last = names.pop();
  if (last === undefined) return "";
  return names.length ? `${names.join(", ")} and ${last} are notified at once.` : `${last} is notified at once.`;
}
