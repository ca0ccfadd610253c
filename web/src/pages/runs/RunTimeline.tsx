import { Check, MessageSquare, PencilLine, Play, Send, Wrench, X } from "lucide-react";

import { type RunDetails, isActive } from "../../api/runs";
import { Markdown } from "../../messages/Markdown";
import { STATUSES, againWords, reasonWords, spanWords, timeOf } from "../../runs/words";
import { useSecond } from "../../runs/useSecond";
import { CopyButton } from "../../ui/CopyField";
import { MOST_OF_LINE, Shown } from "../../ui/Shown";
import { Time } from "../../ui/Time";
import { MessagePart, OpenMessage, whereOf } from "./MessagePart";
import { CutNotice, PromptEntry } from "./PromptEntry";
import { TimelineEntry } from "./TimelineEntry";
import { isFull, offsetWords, summaryOf } from "./steps";

/** A run from the message that started it to its end. */
export function RunTimeline({ details }: { details: RunDetails }) {
  const { run, harness_run: harness, trigger_message: trigger, outgoing_message: outgoing, steps } = details;
  const begin = trigger?.created_at ?? run.created_at;
  const after = (at: string | null | undefined) => (at ? offsetWords(begin, at) : "");
  const others = details.covered_message_ids.length - 1;
  return (
    <ol aria-label="Timeline" className="px-6 pt-5 max-md:px-4">
      <TimelineEntry
        time={<Time at={begin} as="second" />}
        icon={<MessageSquare size={13} />}
        title="Message that started it"
        note={trigger ? whereOf(trigger) : "deleted, or no longer visible to you"}
        action={trigger ? <OpenMessage message={trigger} /> : null}
      >
        {trigger ? <MessagePart message={trigger} /> : null}
        {others > 0 ? <p className="text-sm text-muted">The run also covers {others === 1 ? "1 other pending message" : `${others} other pending messages`}.</p> : null}
      </TimelineEntry>
      {run.started_at ? (
        <TimelineEntry time={after(run.started_at)} icon={<Play size={13} />} title="Started" note={`depth ${run.depth}, attempt ${run.attempt}`} />
      ) : null}
      {harness && run.started_at ? <PromptEntry harness={harness} time={after(run.started_at)} /> : null}
      {run.started_at && !isActive(run) && summaryOf(steps) ? (
        <TimelineEntry time="" icon={<Wrench size={13} />} title="Steps" note={`${summaryOf(steps)}, in ${spanWords(timeOf(run, 0))}`} />
      ) : null}
      {harness?.response ? (
        <TimelineEntry
          time={after(run.finished_at)}
          icon={<PencilLine size={13} />}
          title="Response"
          note={
            <>
              {harness.tokens_out ? `${harness.tokens_out.toLocaleString()} tokens ` : null}
              {harness.truncated && isFull(harness.response) ? <CutNotice /> : null}
            </>
          }
          action={<CopyButton text={harness.response} />}
        >
          <div className="min-w-0 overflow-clip rounded-md border border-line px-3 py-2">
            <Markdown text={harness.response} />
          </div>
        </TimelineEntry>
      ) : null}
      {outgoing ? (
        <TimelineEntry
          time={after(outgoing.created_at)}
          icon={<Send size={13} />}
          title="Outgoing message"
          note={outgoing.reply_to ? `${whereOf(outgoing)}, reply` : whereOf(outgoing)}
          action={<OpenMessage message={outgoing} />}
        >
          <MessagePart message={outgoing} />
        </TimelineEntry>
      ) : null}
      {isActive(run) ? <NowEntry details={details} /> : <EndEntry details={details} time={after(run.finished_at)} />}
    </ol>
  );
}

/** What a run does now. */
function NowEntry({ details: { run, steps } }: { details: RunDetails }) {
  const now = useSecond(true);
  const last = steps.at(-1);
  if (run.status === "deferred") {
    const note = `${reasonWords(run.reason) ?? ""} ${againWords(run, now)}.`.trim();
    return <TimelineEntry time="now" icon={<span className="text-amber">◷</span>} title="Waiting" note={note} />;
  }
  const note =
    run.status === "queued"
      ? "for a free slot, or until the agent can run"
      : [summaryOf(steps), last ? `last step ${spanWords(now - Date.parse(last.at))} ago` : "no output yet"].filter(Boolean).join(", ");
  return <TimelineEntry time="now" icon={<span className="text-in-progress">◐</span>} title={run.status === "queued" ? "Waiting" : "Working"} note={note} />;
}

function EndEntry({ details: { run, harness_run: harness, steps }, time }: { details: RunDetails; time: string }) {
  const isGood = run.status === "succeeded";
  // The last step has the hub's sentence, which says more than the reason alone: the exit code, for example.
  const said = steps.findLast((step) => step.kind === "finished")?.text ?? reasonWords(run.reason) ?? "";
  const code = harness?.exit_code;
  const isCodeSaid = code === null || code === undefined || (!isGood && said.includes("exit code"));
  return (
    <TimelineEntry
      time={time}
      icon={isGood ? <Check size={13} /> : <X size={13} />}
      title={isGood ? "Finished" : STATUSES[run.status].word}
      note={
        <>
          {isGood ? null : <Shown text={said} most={MOST_OF_LINE} title="Full reason" />} {isCodeSaid ? "" : `exit code ${code}`}
        </>
      }
    />
  );
}
