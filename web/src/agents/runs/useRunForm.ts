import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";

import { type RevisedAgent, agentQuery, changeAgent } from "../../api/agents";
import { Problem } from "../../api/problem";
import { toast } from "../../ui/Toasts";
import { commandRefusal } from "./commandRefusal";
import { LABELS, type RunForm, changedFields, changesOf, formOf } from "./form";

/**
 * The edits of what starts an agent. Only what was typed is kept here; the rest follows the agent. A save is based on the revision that
 * the person saw when they began, so that nobody overwrites what somebody else has saved in between without knowing it.
 */
export function useRunForm(latest: RevisedAgent) {
  const client = useQueryClient();
  const { agent } = latest;
  const [typed, setTyped] = useState<Partial<RunForm>>({});
  const [base, setBase] = useState(latest);
  const now = formOf(agent);
  const form: RunForm = { ...now, ...typed };
  const { changes, errors } = changesOf(agent, form);
  const fields = changedFields(now, form);
  const save = useMutation({
    mutationFn: async (etag: string | null) => {
      try {
        return await changeAgent(client, agent.name, changes, etag);
      } catch (error) {
        if (!(error instanceof Problem) || error.status !== 412) throw error;
        const current = await client.fetchQuery({ ...agentQuery(agent.name), staleTime: 0 });
        const theirs = changedFields(formOf(base.agent), formOf(current.agent));
        // Something else of the agent changed, for example its instructions. That contradicts nothing here.
        if (theirs.length === 0) return changeAgent(client, agent.name, changes, current.etag);
        throw error;
      }
    },
    onSuccess: () => {
      setTyped({});
      toast("Saved");
    },
  });
  // A new object at each drawing would take the focus again and again.
  const error = useMemo(() => commandRefusal(save.error), [save.error]);
  const isConflict = save.error instanceof Problem && save.error.status === 412;
  const setAll = (changes: Partial<RunForm>) => {
    if (Object.keys(typed).length === 0) setBase(latest);
    setTyped((before) => ({ ...before, ...changes }));
  };
  return {
    form,
    errors,
    fields,
    error,
    isConflict,
    theirs: isConflict ? changedFields(formOf(base.agent), now).map((field) => `${LABELS[field]} was changed`) : [],
    isSaving: save.isPending,
    canSave: Object.keys(changes).length > 0 && Object.keys(errors).length === 0 && !save.isPending,
    set: <Field extends keyof RunForm>(field: Field, value: RunForm[Field]) => setAll({ [field]: value }),
    setAll,
    save: () => save.mutate(base.etag),
    saveOverTheirs: () => save.mutate(latest.etag),
    discard: () => {
      save.reset();
      setTyped({});
    },
  };
}

export type RunEdits = ReturnType<typeof useRunForm>;
