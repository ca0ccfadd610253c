import { getRouteApi } from "@tanstack/react-router";

import { CreateSteps } from "./CreateSteps";
import { JoinSteps } from "./JoinSteps";

const route = getRouteApi("/welcome");

/** Leads from the name of a new agent to its first answer. */
export function WelcomePage() {
  const { agent, step } = route.useSearch();
  return agent ? <JoinSteps key={agent} name={agent} step={step ?? "connect"} /> : <CreateSteps />;
}
