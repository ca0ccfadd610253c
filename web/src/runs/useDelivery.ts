import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { conversationQuery, messageQuery } from "../api/queries";
import { type Delivery, type Run, deliveryQuery, oneRunQuery, runsQuery } from "../api/runs";
import type { Message } from "../api/types";
import type { AskedAgent } from "./askedAgents";
import { isAskedAbout, isFinished, isTold } from "./shownDelivery";

/** Whether the hub may start an agent for a message. Only of the person's own agents is it known that they read their inbox by themselves. */
export const mayBeStarted = ({ own }: AskedAgent) => own?.trigger_mode !== "passive";

/** What the hub did about a message for an agent, if that says more than the message itself. */
export function useDelivery(message: Message, agent: AskedAgent): { isLoading: boolean; item?: Delivery } {
  const [now] = useState(() => Date.now());
  const isAsked = mayBeStarted(agent) && isAskedAbout(message, now);
  // The event stream says when it changes.
  const { data, isLoading } = useQuery({ ...deliveryQuery(message.id), enabled: isAsked, staleTime: Number.POSITIVE_INFINITY, retry: false });
  const found = isAsked ? data?.find(({ recipient }) => recipient === agent.name) : undefined;
  const item = found && isTold(found, agent) ? found : undefined;
  const isWaiting = item !== undefined && item.state !== "woken";
  const copy = useMentionCopy(message, agent.name, isWaiting && Boolean(message.channel));
  // An agent that was not started for a message can still find it in its inbox. From then on, the message says what becomes of it.
  const isTaken = isWaiting && ((message.channel ? copy?.status : message.status) ?? "pending") !== "pending";
  return { isLoading, item: isTaken ? undefined : item };
}

/** A run of an agent. All lines of an agent share one list of its latest runs. Only a run that is not in it is asked for alone. */
export function useRunOf(agent: string, id: number | null | undefined): Run | undefined {
  const isWanted = typeof id === "number";
  const latest = useQuery({ ...runsQuery({ agent }), enabled: isWanted, staleTime: Number.POSITIVE_INFINITY });
  const found = latest.data?.items.find((run) => run.id === id);
  // A run that is newer than the list comes with the next load of the list.
  const isOlder = isWanted && latest.data !== undefined && !found && id < (latest.data.items[0]?.id ?? 0);
  const alone = useQuery({ ...oneRunQuery(id ?? 0), enabled: isOlder, retry: false }).data;
  return found ?? (isOlder ? alone : undefined);
}

/** The message in a channel of which a direct message is the copy. */
const mentionedIn = ({ metadata }: Message) => (metadata["mention"] as { message_id?: number } | undefined)?.message_id;

/** Whether a message is finished work, or the copy of a mention in such work. While that is not known, nothing should be said that it may refute. */
export function useIsFinished(message: Message): boolean {
  const original = message.status === "pending" ? mentionedIn(message) : undefined;
  const { data, isLoading } = useQuery({ ...messageQuery(original ?? 0), enabled: original !== undefined, staleTime: Number.POSITIVE_INFINITY, retry: false });
  return isFinished(message) || (original !== undefined && (isLoading || (data !== undefined && isFinished(data))));
}

/** A mention is a direct message in the inbox of the agent. That one waits, is worked on, and is done or fails. */
export function useMentionCopy(message: Message, agent: string, isWanted = true): Message | undefined {
  const isCopy = (one: Message) => mentionedIn(one) === message.id;
  return useQuery({ ...conversationQuery({ kind: "dm", name: agent }), enabled: isWanted }).data?.items.find(isCopy);
}
