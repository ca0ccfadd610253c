import { useQuery } from "@tanstack/react-query";

import { partnersQuery } from "../api/queries";
import type { Me, Message } from "../api/types";
import { DeliveryLine } from "./DeliveryLine";
import { InboxLine } from "./InboxLine";
import { askedAgents } from "./askedAgents";
import { mayBeStarted } from "./useDelivery";

/** What agents do about a message of the person: a line for each agent that got it. */
export default function DeliveryLines({ message, me }: { message: Message; me: Me }) {
  const partners = useQuery(partnersQuery).data ?? [];
  const agents = askedAgents(message, me, partners);
  if (agents.length === 0) return null;
  // In a direct message, everybody knows whom it is about.
  const isNamed = Boolean(message.channel);
  return (
    <ul aria-label="Status by agent" className="mt-1 flex max-w-[80ch] flex-col gap-1 empty:hidden [&>li:empty]:hidden">
      {agents.map((agent) => (
        <li key={agent.name}>
          {mayBeStarted(agent) ? (
            <DeliveryLine message={message} agent={agent} isNamed={isNamed} />
          ) : (
            <InboxLine message={message} agent={agent} isNamed={isNamed} />
          )}
        </li>
      ))}
    </ul>
  );
}
