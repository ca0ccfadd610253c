import type { Me } from "../api/types";

/** The page of a person or an agent. Your own agents have one with their settings. */
export function profileLink(name: string, me: Me | undefined) {
  const to: "/agents/$name" | "/people/$name" = me?.agents.some((agent) => agent.name === name) ? "/agents/$name" : "/people/$name";
  return { to, params: { name } };
}
