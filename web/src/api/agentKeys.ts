/** The keys of agents in the cache. The event stream needs them on every page, and the rest of the queries only where agents are shown. */
export const AGENTS_KEY = ["agents", "list"] as const;
export const agentKey = (name: string) => ["agent", name] as const;
