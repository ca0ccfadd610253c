import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useLocation } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { useEffect, useRef, useState } from "react";

import { type Delivery, checkAgent, sendTo } from "../../api/runs";
import { useRepeatKey } from "../../lib/repeat";
import { notStartedWords } from "../../runs/words";
import { Button } from "../../ui/Button";
import { FormError, TextAreaField, TextField, fieldError } from "../../ui/TextField";
import { TRY_IT } from "../tabs";
import { CheckResult } from "./CheckResult";

/** Asks what a message would start, or sends one. */
export function TryIt({ agent, hasEdits }: { agent: string; hasEdits: boolean }) {
  const client = useQueryClient();
  const [text, setText] = useState("");
  const [from, setFrom] = useState("");
  const [sent, setSent] = useState(0);
  const repeat = useRepeatKey([agent, text, sent]);
  const check = useMutation({ mutationFn: () => checkAgent(agent, from.trim().replace(/^@/, "") || undefined) });
  const run = useMutation({
    mutationFn: () => sendTo(client, agent, text, repeat),
    onSuccess: () => {
      setText("");
      setSent((count) => count + 1);
    },
  });
  const part = useRef<HTMLElement>(null);
  const isWanted = useLocation({ select: ({ hash }) => hash === TRY_IT });
  useEffect(() => {
    if (isWanted) part.current?.querySelector("textarea")?.focus();
  }, [isWanted]);
  return (
    <section ref={part} aria-label="Try it" className="flex flex-col gap-3 rounded-lg border border-line p-4">
      <h3 className="font-semibold">Try it</h3>
      {hasEdits ? <p className="text-sm text-amber">You have unsaved changes. This uses the saved settings.</p> : null}
      <TextAreaField label="Message" rows={2} value={text} onChange={setText} hint="“Run now” sends it to the agent as a direct message from you." />
      <TextField
        label="From"
        hint="Sender for the check: a user or agent. Empty = you."
        error={fieldError(check.error, "from")}
        value={from}
        onChange={setFrom}
        spellCheck={false}
        autoComplete="off"
      />
      <div className="flex flex-wrap gap-2">
        <Button size="form" disabled={check.isPending} onClick={() => check.mutate()}>
          Check
        </Button>
        <Button size="form" disabled={run.isPending || !text.trim()} onClick={() => run.mutate()}>
          <Play size={14} aria-hidden="true" />
          Run now
        </Button>
        <span className="self-center text-sm text-muted">Check does not start a run.</span>
      </div>
      <FormError error={check.error} shown={["from"]} />
      <FormError error={run.error} />
      <div aria-live="polite" className="flex flex-col gap-3">
        {run.data ? <Sent delivery={run.data} agent={agent} /> : null}
        {check.data ? <CheckResult check={check.data} agent={agent} /> : null}
      </div>
    </section>
  );
}

function Sent({ delivery, agent }: { delivery: Delivery | undefined; agent: string }) {
  if (delivery?.run_id) {
    return (
      <p>
        Sent. Started{" "}
        <Link to="/runs/$id" params={{ id: String(delivery.run_id) }} className="text-accent underline">
          run {delivery.run_id}
        </Link>
        .
      </p>
    );
  }
  return (
    <p>
      Sent. {delivery?.state === "deferred" ? "The message waits." : "No run was started."} {notStartedWords(delivery?.reason)}{" "}
      <Link to="/dm/$name" params={{ name: agent }} className="text-accent underline">
        Open conversation
      </Link>
    </p>
  );
}
