import type { Archetype } from "../api/newAgent";

/** Kinds of agents, and what each is for. */
export const ARCHETYPES: ReadonlyArray<{ name: Archetype; label: string; about: string }> = [
  { name: "researcher", label: "Researcher", about: "Finds information and cites sources" },
  { name: "writer", label: "Writer", about: "Drafts and revises text for approval" },
  { name: "commenter", label: "Commenter", about: "Reviews others' work and points out problems" },
  { name: "monitor", label: "Monitor", about: "Watches for changes and reports them" },
  { name: "operator", label: "Operator", about: "Acts on systems outside the hub" },
  { name: "custom", label: "Custom", about: "Anything else" },
];

/** What an agent can be called; as the hub has it. */
export const NAME_PATTERN = "[a-z0-9][a-z0-9_\\-]{1,63}";
export const NAME_RULE = "2–64 characters: lowercase letters, digits, - and _. Starts with a letter or digit. Cannot be changed later.";
