import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { type RevisedChannel, revisedChannelQuery, withRevision } from "../../api/channel";
import { api } from "../../api/client";
import { Problem } from "../../api/problem";
import { channelQuery } from "../../api/queries";
import { Button } from "../../ui/Button";
import { Section } from "../../ui/Section";
import { Switch } from "../../ui/Switch";
import { FormError, TextAreaField, TextField, fieldError } from "../../ui/TextField";
import { toast } from "../../ui/Toasts";
import {
  ABOUT,
  type ChannelForm,
  type FormField,
  LABELS,
  WORKFLOW,
  bodyOf,
  changed,
  durationFault,
  formOf,
  thresholdFault,
  valueWords,
} from "./draft";

interface SectionProps {
  form: ChannelForm;
  set: <Name extends FormField>(field: Name, value: ChannelForm[Name]) => void;
  error: unknown;
  isManager: boolean;
}

/**
 * The texts and the workflow of a channel. What is changed starts from a revision that was read, and the hub refuses it when somebody
 * else was faster; then the person sees what it is now and decides.
 */
export function ChannelFormSections({ name, latest, isManager }: { name: string; latest: RevisedChannel; isManager: boolean }) {
  const client = useQueryClient();
  const [base, setBase] = useState(latest);
  const [form, setForm] = useState(() => formOf(latest.channel));
  const was = formOf(base.channel);
  const isTouched = changed(was, form, [...ABOUT, ...WORKFLOW]).length > 0;

  // As long as nothing is typed, the form follows what others do.
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
      // What is being changed in the other half stays.
      setForm((form) => ({ ...form, ...Object.fromEntries(fields.map((field) => [field, now[field]])) }));
      client.setQueryData(revisedChannelQuery(name).queryKey, saved);
      client.setQueryData(channelQuery(name).queryKey, { channel: saved.channel, members: saved.members });
      void client.invalidateQueries({ queryKey: ["channels"] });
      toast("Saved.");
    },
    onError: (error) => {
      if (isConflict(error)) void client.invalidateQueries({ queryKey: revisedChannelQuery(name).queryKey });
    },
  });
  const half = (fields: readonly FormField[]) => ({
    fields: changed(was, form, fields),
    isMine: save.variables?.fields.some((field) => fields.includes(field)) ?? false,
  });
  const about = half(ABOUT);
  const workflow = half(WORKFLOW);
  const set: SectionProps["set"] = (field, value) => setForm((now) => ({ ...now, [field]: value }));
  const discard = (fields: readonly FormField[]) => {
    save.reset();
    setForm((now) => ({ ...now, ...Object.fromEntries(fields.map((field) => [field, was[field]])) }));
  };

  const foot = (part: ReturnType<typeof half>, fault: boolean, all: readonly FormField[]) => {
    const error = part.isMine ? save.error : null;
    const theirs = changed(was, formOf(latest.channel), [...ABOUT, ...WORKFLOW]);
    return (
      <>
        {isConflict(error) ? (
          <Conflict
            // The hint of the hub is for programs; here the two buttons are.
            sentence={error instanceof Problem ? error.message : ""}
            changes={theirs.map((field) => `${LABELS[field]} is now ${valueWords(formOf(latest.channel)[field])}`)}
            takeTheirs={() => {
              save.reset();
              setBase(latest);
              setForm(formOf(latest.channel));
            }}
            saveMine={() => {
              setBase(latest);
              save.mutate({ fields: part.fields, revision: latest.revision });
            }}
          />
        ) : (
          <FormError error={error} shown={all} />
        )}
        {isManager && !isConflict(error) ? (
          <div className="flex gap-2">
            <Button type="submit" size="form" look="filled" disabled={part.fields.length === 0 || fault || save.isPending}>
              Save
            </Button>
            {part.fields.length ? (
              <Button size="form" onClick={() => discard(all)}>
                Discard
              </Button>
            ) : null}
          </div>
        ) : null}
      </>
    );
  };
  const workflowFault = WORKFLOW.some((field) => faultOf(field, form) !== undefined);
  return (
    <>
      <Section title="About">
        <form
          aria-label="About"
          className="flex max-w-2xl flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            save.mutate({ fields: about.fields, revision: base.revision });
          }}
        >
          <AboutFields form={form} set={set} error={about.isMine ? save.error : null} isManager={isManager} />
          {foot(about, false, ABOUT)}
        </form>
      </Section>
      <Section title="Workflow" description="Whether messages here are work, and how much trust agents need for it. People are never limited by trust.">
        <form
          aria-label="Workflow"
          className="flex max-w-2xl flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            save.mutate({ fields: workflow.fields, revision: base.revision });
          }}
        >
          <WorkflowFields form={form} set={set} error={workflow.isMine ? save.error : null} isManager={isManager} />
          {foot(workflow, workflowFault, WORKFLOW)}
        </form>
      </Section>
    </>
  );
}

function isConflict(error: unknown): boolean {
  return error instanceof Problem && error.code === "precondition_failed";
}

function faultOf(field: FormField, form: ChannelForm): string | undefined {
  const value = form[field];
  if (typeof value === "boolean") return undefined;
  if (field.startsWith("stalemate_")) return durationFault(value);
  return field.endsWith("_threshold") ? thresholdFault(value) : undefined;
}

function AboutFields({ form, set, error, isManager }: SectionProps) {
  return (
    <>
      <TextField
        label="Topic"
        hint="One line, shown beside the name."
        maxLength={250}
        disabled={!isManager}
        value={form.topic}
        onChange={(text) => set("topic", text)}
        error={fieldError(error, "topic")}
      />
      <TextAreaField
        label="Description"
        hint="What the channel is for, and what newcomers should know."
        rows={4}
        disabled={!isManager}
        value={form.description}
        onChange={(text) => set("description", text)}
        error={fieldError(error, "description")}
      />
      <Switch
        label="Public"
        hint="On: everybody on the hub can see it, and joins by writing. Off: only its members, and the owners of agents in it, can see it."
        isOn={form.public}
        disabled={!isManager}
        onChange={(isOn) => set("public", isOn)}
      />
    </>
  );
}

function WorkflowFields({ form, set, error, isManager }: SectionProps) {
  const off = form.workflow_enabled ? "" : " It applies only while the workflow is on.";
  const problem = (field: FormField) => faultOf(field, form) ?? fieldError(error, field);
  return (
    <>
      <Switch
        label="Workflow"
        hint="On: each message is a card on the board, open until a reaction settles it (published, done or rejected), with a reminder if that takes too long. Off: messages need no decision; reactions still show a state, but nothing follows from it."
        isOn={form.workflow_enabled}
        disabled={!isManager}
        onChange={(isOn) => set("workflow_enabled", isOn)}
      />
      <Switch
        label="Approve by trust"
        hint={`On: a new message is approved at once if its agent has enough trust. Off: somebody has to approve it.${off}`}
        isOn={form.auto_approve}
        disabled={!isManager}
        onChange={(isOn) => set("auto_approve", isOn)}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Trust to approve"
          hint={`0 to 1. The trust that an agent needs to approve, and to be approved by trust.${off}`}
          type="number"
          min={0}
          max={1}
          step={0.05}
          disabled={!isManager}
          value={form.approve_threshold}
          onChange={(text) => set("approve_threshold", text)}
          error={problem("approve_threshold")}
        />
        <TextField
          label="Trust to publish"
          hint={`0 to 1. The trust that an agent needs to publish before a person has approved.${off}`}
          type="number"
          min={0}
          max={1}
          step={0.05}
          disabled={!isManager}
          value={form.publish_threshold}
          onChange={(text) => set("publish_threshold", text)}
          error={problem("publish_threshold")}
        />
        <TextField
          label="Remind after"
          hint={`30m, 24h, 7d; 0 is off. Work that stays open longer gets one reminder, to whoever claimed it or else to the owner.${off}`}
          disabled={!isManager}
          value={form.stalemate_remind_after}
          onChange={(text) => set("stalemate_remind_after", text.trim())}
          error={problem("stalemate_remind_after")}
        />
        <TextField
          label="Escalate after"
          hint={`30m, 24h, 7d; 0 is off. After this time all people in the channel are told, once.${off}`}
          disabled={!isManager}
          value={form.stalemate_escalate_after}
          onChange={(text) => set("stalemate_escalate_after", text.trim())}
          error={problem("stalemate_escalate_after")}
        />
      </div>
    </>
  );
}

function Conflict({ sentence, changes, takeTheirs, saveMine }: {
  sentence: string;
  changes: string[];
  takeTheirs: () => void;
  saveMine: () => void;
}) {
  return (
    <div role="alert" className="flex flex-col gap-3 rounded-md border border-amber p-3">
      <p className="text-amber">{sentence}</p>
      {changes.length ? (
        <ul className="list-disc pl-5">
          {changes.map((change) => (
            <li key={change}>{change}</li>
          ))}
        </ul>
      ) : null}
      <div className="flex flex-wrap gap-2">
        <Button onClick={takeTheirs}>Drop mine, show theirs</Button>
        <Button onClick={saveMine}>Save mine over it</Button>
      </div>
    </div>
  );
}
