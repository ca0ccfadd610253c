import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { partnersQuery } from "../api/queries";
import { type Run, isActive } from "../api/runs";
import type { Me, Message } from "../api/types";
import { MOST_OF_LINE, Shown } from "../ui/Shown";
import { useMinute } from "../ui/Time";
import { classes } from "../ui/classes";
import { FailureReason } from "./FailureReason";
import { ResendButton } from "./ResendButton";
import { RunButton } from "./RunButtons";
import { RunLink } from "./RunLink";
import { type AskedAgent, askedAgents } from "./askedAgents";
import { useDelivery, useMentionCopy, useRunOf } from "./useDelivery";
import { type WorkWords, inboxWords, notStarted, runWords } from "./workWords";
import { reasonWords } from "./words";

interface NoteProps {
  message: Message;
  agent: AskedAgent;
}

/** Beside the state of work that mentions agents: what each of them does about it, as far as the state does not say it. */
export default function WorkNotes({ message, me }: { message: Message; me: Me }) {
  const partners = useQuery(partnersQuery).data ?? [];
  const agents = askedAgents(message, me, partners);
  if (agents.length === 0) return null;
  return (
    <ul aria-label="Status by agent" className="flex min-w-0 flex-wrap items-center gap-x-3 empty:hidden">
      {agents.map((agent) => (
        <WorkNote key={agent.name} message={message} agent={agent} />
      ))}
    </ul>
  );
}

function WorkNote({ message, agent }: NoteProps) {
  const { isLoading, item } = useDelivery(message, agent);
  const run = useRunOf(agent.name, item?.state === "woken" ? item.run_id : undefined);
  const copy = useMentionCopy(message, agent.name, !isLoading && !item);
  if (isLoading) return null;
  if (item?.state === "woken" && item.run_id) return run ? <RunNote message={message} agent={agent} run={run} /> : null;
  if (item) {
    const words = notStarted(message, agent, item);
    return words.text ? <Note words={words} /> : null;
  }
  return copy ? <InboxNote message={message} agent={agent} copy={copy} /> : null;
}

function RunNote({ message, agent, run }: NoteProps & { run: Run }) {
  const now = useMinute();
  const words = runWords(message, run, agent, Math.max(now, Date.now()));
  return (
    <Note words={words} more={<RunLink id={run.id} />} buttons={<RunButton key={run.status} run={run} />}>
      {words.isBad && !isActive(run) ? <Shown text={run.last_step ?? reasonWords(run.reason) ?? ""} most={MOST_OF_LINE} title="Full reason" /> : null}
    </Note>
  );
}

function InboxNote({ message, agent, copy }: NoteProps & { copy: Message }) {
  const now = useMinute();
  const words = inboxWords(message, copy, agent, Math.max(now, Date.now()));
  if (!words.text) return null;
  const isFailed = copy.status === "failed";
  return (
    <Note words={words} buttons={isFailed ? <ResendButton message={message} /> : undefined}>
      {isFailed ? <FailureReason id={copy.id} agent={agent.name} /> : null}
    </Note>
  );
}

function Note({ words: { text, isBad }, more, buttons, children }: { words: WorkWords; more?: ReactNode; buttons?: ReactNode; children?: ReactNode }) {
  return (
    <li className="inline-flex min-h-6 min-w-0 flex-wrap items-center gap-x-2 text-sm">
      {text ? (
        <span className={classes("min-w-0 [overflow-wrap:anywhere]", isBad ? "text-rejected" : "text-muted")}>
          {text} {children}
        </span>
      ) : null}
      {more}
      {buttons}
    </li>
  );
}
