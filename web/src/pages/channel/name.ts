const LONGEST = 64;

/** What somebody types as a channel name that the hub takes: as far as it can be, in lower case and with dashes for blanks. */
export function channelName(typed: string): string {
  return typed
    .normalize("NFKD")
    .toLowerCase()
    .replace(/-?\s+/g, "-")
    .replace(/[^a-z0-9_-]/g, "")
    .replace(/^[_-]+/, "")
    .slice(0, LONGEST);
}

/** The same without a dash that waits for its next word. */
export function wholeName(name: string): string {
  return name.replace(/(?<!-)-+$/, "");
}
