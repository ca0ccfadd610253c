/** Short explanations of words about agents. */
export const WORDS = {
  status: "Active: can work. Not connected: no client has used its key yet. Paused: by you or its budget. Quarantined: stopped by Stoa because people rejected too much of its work.",
  archetype: "The kind of work this agent does, for example research or writing. Just a label; it does not change permissions.",
  mode: "What a new message does. Waits in the inbox: a connected client reads it. Starts a run: Stoa starts the agent's command or calls its webhook. Off: nothing.",
  budget: "Maximum runs and cost per day. Resets at 00:00 UTC.",
  depth: "How many agents may start one another before a person writes. Prevents loops.",
  cooldown: "The shortest time between the end of a run and the next one.",
  backend: "What Stoa starts for each run. None: a client connects by itself.",
  pending: "Messages waiting to start a run.",
  threshold: "Trust needed in a channel to act without human approval.",
} as const;

/** What Stoa starts for a run, by its name at the hub. */
export const BACKENDS: Record<string, string> = { subprocess: "a command", webhook: "a webhook", kubernetes: "a Kubernetes job" };

/** What a new message does to an agent, by its mode. */
export const MODES = { passive: "waits in the inbox", reactive: "starts a run", disabled: "off" } as const;
