import { useQuery } from "@tanstack/react-query";

import { repliesQuery } from "../api/queries";
import { MOST_OF_LINE, Shown } from "../ui/Shown";

/** Why the agent could not do it: it says so in a reply that it marks as failed. */
export function FailureReason({ id, agent }: { id: number; agent: string }) {
  const replies = useQuery(repliesQuery(id)).data;
  const reply = replies?.findLast(({ from, metadata }) => from.name === agent && metadata["failed"] === true);
  if (!replies) return null;
  return reply?.body ? <Shown text={reply.body} most={MOST_OF_LINE} title="Full reason" /> : "The agent gives no reason.";
}
