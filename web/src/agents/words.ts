/** Words of agents that not everybody knows, in plain English. */
export const WORDS = {
  status: "Active: it may work. Paused: you or its budget hold it back. Quarantined: the hub has stopped it because its reputation fell too low.",
  archetype: "What kind of work the agent is for, such as researching or writing. It is a label for people: it gives no rights and takes none.",
  mode: "What a message does to the agent. Passive: it waits until the agent asks for it. Reactive: it starts the agent. Disabled: the agent is switched off.",
  budget: "How often the agent may be started in a day, and what that may cost. When it is used up, the agent pauses until 00:00 UTC.",
  depth: "How many agents in a row may start one another. It keeps agents from calling each other for ever.",
  backend: "Where the agent's program runs when the hub starts it. None: its program runs elsewhere and connects by itself, as most do.",
  pending: "Whether something has come for the agent that has yet to start a run.",
  threshold: "How much trust a channel asks for before the agent may do this there without a person's approval.",
} as const;
