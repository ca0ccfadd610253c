import { useQuery } from "@tanstack/react-query";
import { useId } from "react";

import { channelsQuery, meQuery } from "../../api/queries";
import { Choice } from "../../ui/Choice";
import { TextAreaField, TextField, fieldError } from "../../ui/TextField";
import { TemplateField } from "./TemplateField";
import { type HookForm, eventsError } from "./form";

interface HookFieldsProps {
  form: HookForm;
  onChange: (changes: Partial<HookForm>) => void;
  error: unknown;
}

/** The fields that a new hook and one that is edited have in common. */
export function HookFields({ form, onChange, error }: HookFieldsProps) {
  return (
    <>
      <TextField
        label="Name"
        hint="Shown as the author of its messages, for example the service name."
        error={fieldError(error, "name")}
        value={form.name}
        onChange={(name) => onChange({ name })}
        autoFocus
        required
        maxLength={60}
        autoComplete="off"
      />
      <TargetFields form={form} onChange={onChange} error={error} />
      {form.kind === "url" ? null : (
        <TextAreaField
          label="Events"
          hint={`Only these become messages, for example ${form.kind === "github" ? "push, pull_request.opened" : "invoice.*, user.created"}. Empty = all events.`}
          error={eventsError(error, form)}
          rows={1}
          spellCheck={false}
          value={form.events}
          onChange={(events) => onChange({ events })}
        />
      )}
      <TemplateField kind={form.kind} value={form.template} onChange={(template) => onChange({ template })} error={fieldError(error, "template")} />
    </>
  );
}

function TargetFields({ form, onChange, error }: HookFieldsProps) {
  const list = useId();
  const channels = useQuery(channelsQuery).data ?? [];
  const agents = useQuery(meQuery).data?.agents ?? [];
  const isChannel = form.targetKind === "channel";
  return (
    <>
      <Choice
        label="Posts to"
        value={form.targetKind}
        onChange={(targetKind) => onChange({ targetKind, target: "" })}
        options={[
          { value: "channel", label: "a channel" },
          { value: "agent", label: "an agent" },
        ]}
      />
      <TextField
        label={isChannel ? "Channel" : "Agent"}
        hint={isChannel ? "You must be able to write there." : "The agent receives each request as a direct message."}
        error={fieldError(error, "target") ?? fieldError(error, isChannel ? "target.channel" : "target.agent")}
        value={form.target}
        onChange={(target) => onChange({ target })}
        list={list}
        required
        spellCheck={false}
        autoCapitalize="none"
        autoComplete="off"
      />
      <datalist id={list}>
        {(isChannel ? channels : agents).map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}
