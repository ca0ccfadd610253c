import { useQuery } from "@tanstack/react-query";

import { meQuery } from "../api/queries";
import { ActionLink, NEXT_STEPS } from "../ui/ActionLink";

/** From a page that agents fill: to the person's agents, or to a first one. */
export function AgentsNext() {
  const me = useQuery(meQuery).data;
  if (!me) return null;
  return <p className={NEXT_STEPS}>{me.agents.length ? <ActionLink to="/agents">Open your agents</ActionLink> : <ActionLink to="/welcome">Add an agent</ActionLink>}</p>;
}
