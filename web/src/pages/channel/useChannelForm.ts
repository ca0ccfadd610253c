import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { type RevisedChannel, revisedChannelQuery, withRevision } from "../../api/channel";
import { api } from "../../api/client";
import { Problem } from "../../api/problem";
import { channelQuery } from "../../api/queries";
import { toast } from "../../ui/Toasts";
import { ABOUT, type ChannelForm, type FormField, LABELS, WORKFLOW, bodyOf, changed, formOf, valueWords } from "./draft";

/** One of the two forms: its changed fields, and the error if its last save failed. */
export interface FormPart {
  all: readonly FormField[];
  fields: FormField[];
  error: unknown;
}

/**
 * The edits of a channel's settings. A save is based on the revision that was read, and the hub refuses it when somebody else has saved
 * in between; then the person sees the other changes and decides.
 */
export function useChannelForm(name: string, latest: RevisedChannel) {
  const client = useQueryClient();
  const [base, setBase] = useState(latest);
  const [form, setForm] = useState(() => formOf(latest.channel));
  const was = formOf(base.channel);
  const isTouched = changed(was, form, [...ABOUT, ...WORKFLOW]).length > 0;

  // Until the person changes something, the form follows the changes of others.
  useEffect(() => {
    if (isTouched) return;
    setBase(latest);
    setForm(formOf(latest.channel));
  }, [latest, isTouched]);

  const save = useMutation({
    mutationFn: ({ fields, revision }: { fields: readonly FormField[]; revision: string | undefined }) => {
      const params = { path: { name }, header: revision ? { "If-Match": revision } : {} };
      const body = bodyOf(form, fields);
      return withRevision(
        fields.some((field) => ABOUT.includes(field))
          ? api.PATCH("/api/channels/{name}", { params, body })
          : api.PUT("/api/channels/{name}/settings", { params, body }),
      );
    },
    onSuccess: (saved, { fields }) => {
      const now = formOf(saved.channel);
      setBase(saved);
      // Unsaved changes in the other form stay.
      setForm((form) => ({ ...form, ...Object.fromEntries(fields.map((field) => [field, now[field]])) }));
      client.setQueryData(revisedChannelQuery(name).queryKey, saved);
      client.setQueryData(channelQuery(name).queryKey, { channel: saved.channel, members: saved.members });
      void client.invalidateQueries({ queryKey: ["channels"] });
      toast("Saved");
    },
    onError: (error) => {
      if (isConflict(error)) void client.invalidateQueries({ queryKey: revisedChannelQuery(name).queryKey });
    },
  });
  const part = (all: readonly FormField[]): FormPart => ({
    all,
    fields: changed(was, form, all),
    error: save.variables?.fields.some((field) => all.includes(field)) ? save.error : null,
  });
  return {
    form,
    about: part(ABOUT),
    workflow: part(WORKFLOW),
    isSaving: save.isPending,
    /** The changes that others saved since the form was read, in words. */
    theirs: changed(was, formOf(latest.channel), [...ABOUT, ...WORKFLOW]).map(
      (field) => `${LABELS[field]} is now ${valueWords(formOf(latest.channel)[field])}`,
    ),
    set: <Name extends FormField>(field: Name, value: ChannelForm[Name]) => setForm((now) => ({ ...now, [field]: value })),
    save: ({ fields }: FormPart) => save.mutate({ fields, revision: base.revision }),
    discard: ({ all }: FormPart) => {
      save.reset();
      setForm((now) => ({ ...now, ...Object.fromEntries(all.map((field) => [field, was[field]])) }));
    },
    takeTheirs: () => {
      save.reset();
      setBase(latest);
      setForm(formOf(latest.channel));
    },
    saveOverTheirs: ({ fields }: FormPart) => {
      setBase(latest);
      save.mutate({ fields, revision: latest.revision });
    },
  };
}

export type ChannelEdits = ReturnType<typeof useChannelForm>;

export function isConflict(error: unknown): boolean {
  return error instanceof Problem && error.code === "precondition_failed";
}
