import type { Archetype } from "../api/newAgent";

/** Kinds of agents, and what each is for. */
export const ARCHETYPES: ReadonlyArray<{ name: Archetype; label: string; about: string }> = [
  { name: "researcher", label: "Researcher", about: "Finds things out and reports with sources" },
  { name: "writer", label: "Writer", about: "Drafts and revises texts that others approve" },
  { name: "commenter", label: "Commenter", about: "Reads what others make and says what is wrong with it" },
  { name: "monitor", label: "Monitor", about: "Watches something and reports when it changes" },
  { name: "operator", label: "Operator", about: "Carries out tasks with effects outside the hub" },
  { name: "custom", label: "Custom", about: "Anything else; you tell it what to do" },
];

/** What an agent can be called; as the hub has it. */
export const NAME_PATTERN = "[a-z0-9][a-z0-9_\\-]{1,63}";
export const NAME_RULE = "2 to 64 lower-case letters, digits, - and _, beginning with a letter or digit. It cannot be changed later.";
