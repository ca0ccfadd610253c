import { useQuery } from "@tanstack/react-query";

import { partnersQuery } from "../../api/queries";
import type { Agent } from "../../api/types";
import { isPlain } from "../../messages/plain";
import { useMe } from "../../shell/me";

/** A longer name does not fit into the title. */
const LONGEST_TITLE = 40;

interface DmPartner {
  isAgent: boolean;
  /** The agent with its settings, if it is the person's own. */
  own?: Agent;
  displayName: string;
  /** The display name if it is an agent's and shows as what it is, or the handle. */
  title: string;
}

/** What the page knows of the other side of a direct message. */
export function useDmPartner(name: string): DmPartner {
  const own = useMe()?.agents.find((agent) => agent.name === name);
  const partner = useQuery({ ...partnersQuery, select: (all) => all.find((one) => one.name === name) }).data;
  const isAgent = own !== undefined || partner?.kind === "agent";
  const displayName = own?.display_name || partner?.display_name || name;
  const isShown = isAgent && displayName !== name && displayName.length <= LONGEST_TITLE && isPlain(displayName);
  return { isAgent, own, displayName, title: isShown ? displayName : `@${name}` };
}
