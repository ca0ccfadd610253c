import { Problem } from "../../api/problem";

/** The hub speaks of the owner of an agent. On the page, that is the person who reads it. */
export function commandRefusal(error: unknown): unknown {
  if (!(error instanceof Problem) || error.code !== "subprocess_not_allowed") return error;
  const said = "Your agents are not allowed to run commands on this hub.";
  return new Problem(error.status, error.code, said, "Choose another way, or ask an admin.");
}
