import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { type RevisedAgent, agentQuery, changeAgent } from "../api/agents";
import { Problem } from "../api/problem";
import { person } from "../lib/person";
import { load, save as keep } from "../lib/storage";
import { Button } from "../ui/Button";
import { Field, INPUT } from "../ui/Field";
import { FormError } from "../ui/TextField";
import { toast } from "../ui/Toasts";

/** What was typed, and what it was typed over. */
interface Draft {
  text: string;
  base: string;
  etag: string | null;
}

/** The text that tells the agent what to do. */
export function InstructionsTab({ revised }: { revised: RevisedAgent }) {
  const client = useQueryClient();
  const { name, instructions } = revised.agent;
  const draftKey = `stoa.draft.${person.get()}.instructions.${name}`;
  const [draft, setDraft] = useState<Draft | null>(() => load<Draft | null>(draftKey, null));
  const change = (next: Draft | null) => {
    setDraft(next);
    keep(draftKey, next);
  };
  const type = (text: string) => {
    const { base, etag } = draft ?? { base: instructions, etag: revised.etag };
    change(text === base && base === instructions ? null : { text, base, etag });
  };
  const save = useMutation({
    mutationFn: async ({ text, base, etag }: Draft) => {
      try {
        return await changeAgent(client, name, { instructions: text }, etag);
      } catch (error) {
        if (!(error instanceof Problem) || error.status !== 412) throw error;
        const current = await client.fetchQuery({ ...agentQuery(name), staleTime: 0 });
        // Something else about the agent changed, which takes nothing away from anybody's text.
        if (current.agent.instructions === base) return changeAgent(client, name, { instructions: text }, current.etag);
        throw error;
      }
    },
    onSuccess: () => {
      change(null);
      toast("Saved");
    },
  });
  const isConflict = draft !== null && draft.base !== instructions;
  return (
    <form
      className="flex max-w-3xl flex-col gap-4 p-6 max-md:px-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (draft) save.mutate(draft);
      }}
    >
      <h2 className="sr-only">Instructions</h2>
      <Field label="Instructions" hint="Prompt for the runs that Stoa starts, in Markdown or plain text. Clients that connect themselves do not receive it.">
        {(wiring) => (
          <textarea
            {...wiring}
            value={draft?.text ?? instructions}
            onChange={(event) => type(event.target.value)}
            rows={18}
            className={`${INPUT} h-auto! py-2 font-mono text-sm`}
          />
        )}
      </Field>
      {isConflict ? (
        <section role="alert" aria-label="Changed elsewhere" className="flex flex-col gap-3 rounded-lg border border-line bg-panel p-4">
          <p>
            <strong className="text-amber">Changed elsewhere.</strong> Someone else saved these instructions while you were editing. Your version is not saved. The saved version is:
          </p>
          <pre tabIndex={0} className="max-h-60 overflow-auto rounded-md border border-line bg-bg p-3 font-mono text-sm whitespace-pre-wrap">
            {instructions || "(none)"}
          </pre>
          <div className="flex flex-wrap gap-2">
            <Button onClick={() => change(null)}>Discard my changes</Button>
            <Button look="danger" onClick={() => save.mutate({ ...draft, base: instructions, etag: revised.etag })}>
              Overwrite
            </Button>
          </div>
        </section>
      ) : (
        <FormError error={save.error} />
      )}
      <div className="flex flex-wrap items-center gap-2">
        <Button type="submit" look="filled" size="form" disabled={draft === null || isConflict || save.isPending}>
          Save
        </Button>
        <Button size="form" disabled={draft === null} onClick={() => change(null)}>
          Discard
        </Button>
        {draft ? <span className="text-muted">Not saved. Draft kept in this browser.</span> : null}
      </div>
    </form>
  );
}
