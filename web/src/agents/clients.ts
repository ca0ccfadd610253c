/** Programs that can act as an agent, and what has to be written where so that they do. */

export type ClientName = "claude-code" | "codex" | "cursor" | "vscode" | "gemini" | "generic" | "stdio";
export type Auth = "key" | "oauth";

export interface ClientKind {
  name: ClientName;
  label: string;
  /** The file that the settings go into. */
  file: string;
  /** How its person logs in; none where it cannot. */
  login: string | null;
  /** What it is, where its name does not say. */
  about?: string;
}

export const CLIENTS: readonly ClientKind[] = [
  { name: "claude-code", label: "Claude Code", file: ".mcp.json in your project", login: "Then type /mcp in Claude Code and log in." },
  { name: "codex", label: "Codex", file: "~/.codex/config.toml", login: "Then run: codex mcp login stoa" },
  { name: "cursor", label: "Cursor", file: ".cursor/mcp.json in your project", login: "Then log in from Cursor's list of MCP servers." },
  { name: "vscode", label: "VS Code", file: ".vscode/mcp.json in your project", login: "VS Code asks you to log in when it starts the server." },
  { name: "gemini", label: "Gemini CLI", file: "~/.gemini/settings.json", login: "Then type /mcp auth stoa in Gemini CLI." },
  { name: "generic", label: "Other", file: "The client's MCP settings", login: "The client opens a page where you log in.", about: "Any other client that supports MCP, the protocol by which AI clients use tools." },
  { name: "stdio", label: "Local command", file: "The client's MCP settings", login: null, about: "For clients that can only start a local MCP server (stdio), and cannot use one over HTTP." },
];

/** Where a client takes the key from when it is not in its settings. */
const PLACEHOLDERS = ["${STOA_MCP_KEY}", "${env:STOA_MCP_KEY}", "${input:stoa-key}"];
const CODEX_VARIABLE = 'bearer_token_env_var = "STOA_MCP_KEY"';

/** The settings as they are written into the file. */
export function textOf(settings: unknown): string {
  const toml = (settings as { toml?: unknown } | null)?.toml;
  return typeof toml === "string" ? toml.trimEnd() : JSON.stringify(settings, null, 2);
}

/**
 * The settings with the key itself in place of where it would be taken from; null where there is no such place. The hub would
 * put it in too, but then it would have to be in an address, and proxies on the way may write addresses down.
 */
export function withKey(settings: unknown, key: string): string | null {
  const toml = (settings as { toml?: unknown } | null)?.toml;
  if (typeof toml === "string") {
    const header = `http_headers = { Authorization = ${JSON.stringify(`Bearer ${key}`)} }`;
    return toml.includes(CODEX_VARIABLE) ? toml.replace(CODEX_VARIABLE, () => header).trimEnd() : null;
  }
  let isPlaced = false;
  const put = (value: unknown): unknown => {
    if (typeof value === "string") {
      const place = PLACEHOLDERS.find((one) => value.includes(one));
      if (place === undefined) return value;
      isPlaced = true;
      return value.replace(place, () => key);
    }
    if (Array.isArray(value)) return value.map(put);
    if (typeof value === "object" && value !== null) {
      // What asks for the key has nothing left to ask for.
      const parts = Object.entries(value).filter(([name]) => name !== "inputs");
      return Object.fromEntries(parts.map(([name, part]) => [name, put(part)]));
    }
    return value;
  };
  const done = put(settings);
  return isPlaced ? JSON.stringify(done, null, 2) : null;
}

/** The address of the hub in the settings. */
export function addressOf(settings: unknown): string | null {
  if (typeof settings !== "object" || settings === null) return null;
  for (const [name, value] of Object.entries(settings)) {
    if (typeof value === "string" && /^(url|httpUrl|STOA_MCP_URL)$/.test(name)) return value;
    if (name === "toml" && typeof value === "string") return /^url = "(.*)"$/m.exec(value)?.[1] ?? null;
    const found = addressOf(value);
    if (found) return found;
  }
  return null;
}

/** A command that does the same, for clients that have one. */
export function commandOf(client: ClientName, address: string, auth: Auth, key: string | null): string | null {
  if (client !== "claude-code") return null;
  const add = `claude mcp add --transport http stoa ${address}`;
  return auth === "oauth" ? add : `${add} \\\n  --header "Authorization: Bearer ${key ?? "$STOA_MCP_KEY"}"`;
}

/** A key as it can be looked at: enough to know it by. */
export function shortened(key: string): string {
  return key.length > 24 ? `${key.slice(0, 15)}…${key.slice(-4)}` : key;
}
