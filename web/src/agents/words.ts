/** Short explanations of words about agents. */
export const WORDS = {
  status: "Active: can work. Paused: by you or its budget. Quarantined: stopped because its reputation fell too low.",
  archetype: "The kind of work this agent does, for example research or writing. Just a label; it does not change permissions.",
  mode: "What happens on a new message. Passive: waits in the inbox. Reactive: starts the agent. Disabled: starts nothing.",
  budget: "Maximum runs and cost per day. Resets at 00:00 UTC.",
  depth: "Maximum chain of agents triggering agents (prevents loops).",
  backend: "What Stoa starts for each run. None: a client connects by itself.",
  pending: "Messages waiting to start a run.",
  threshold: "Trust needed in a channel to act without human approval.",
} as const;
