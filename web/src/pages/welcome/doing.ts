import type { Run } from "../../api/runs";
import type { Agent, Message } from "../../api/types";
import { againWords, reasonWords } from "../../runs/words";
import { hasCommand, isElsewhere } from "./ways";

/** What the agent does about the first message, and whether that is good, still open or a fault. */
export interface Doing {
  sentence: string;
  look: "done" | "open" | "fault";
}

interface Known {
  agent: Pick<Agent, "name" | "trigger_mode" | "harness">;
  isConnected: boolean;
  messages: readonly Message[];
  /** The agent's latest run, if there is one. */
  run: Pick<Run, "status" | "deferred_until"> | undefined;
}

/** The latest message that the person sent to the agent. */
const askedIn = (messages: readonly Message[], name: string) => messages.findLast(({ from }) => from.name !== name);

export const isAnswered = (messages: readonly Message[], name: string) => {
  const asked = askedIn(messages, name);
  return asked !== undefined && messages.some(({ from, id }) => from.name === name && id > asked.id);
};

export function doingOf({ agent, isConnected, messages, run }: Known): Doing {
  const { name } = agent;
  const asked = askedIn(messages, name);
  const isStarted = hasCommand(agent as Agent);
  const isCalled = isElsewhere(agent);
  if (asked === undefined) {
    if (isStarted) return { sentence: `Send the message above. It ${isCalled ? `calls @${name}'s webhook` : `starts @${name}'s command`}.`, look: "open" };
    if (isConnected) return { sentence: `@${name} is connected. Send the message above.`, look: "open" };
    return { sentence: `Nothing is connected as @${name} yet. You can send the message now: it waits in the inbox.`, look: "open" };
  }
  if (isAnswered(messages, name)) return { sentence: `@${name} replied. Your agent works.`, look: "done" };
  if (asked.status === "failed" || (isStarted && (run?.status === "failed" || run?.status === "timed_out"))) {
    return { sentence: `@${name} could not do it. The reason is below your message.`, look: "fault" };
  }
  if (isStarted) {
    if (run?.status === "running") return { sentence: `@${name} is working${isCalled ? "" : ": its command runs"}. The reply appears above.`, look: "open" };
    if (run?.status === "deferred") return { sentence: `${reasonWords("model_unavailable")} ${againWords(run)}.`, look: "open" };
    if (run?.status === "succeeded") return { sentence: `@${name} finished without a reply: its ${isCalled ? "webhook answered with no text" : "command printed nothing"}.`, look: "fault" };
    return { sentence: isCalled ? `Your message waits until the hub calls @${name}'s webhook.` : `Your message waits for @${name}'s command to start.`, look: "open" };
  }
  if (asked.status === "processing") return { sentence: `@${name} is working on your message. The reply appears above.`, look: "open" };
  if (asked.status === "done") return { sentence: `@${name} marked your message as done without a reply.`, look: "done" };
  return isConnected
    ? { sentence: `Your message waits in @${name}'s inbox until its client checks it.`, look: "open" }
    : { sentence: `Your message waits in @${name}'s inbox until a client connects.`, look: "open" };
}
