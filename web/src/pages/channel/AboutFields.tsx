import { Switch } from "../../ui/Switch";
import { TextAreaField, TextField, fieldError } from "../../ui/TextField";
import type { FieldsProps } from "./FieldsProps";

/** The texts of a channel, and who can see it. */
export function AboutFields({ form, set, error, isManager }: FieldsProps) {
  return (
    <>
      <TextField
        label="Topic"
        hint="One-line topic, shown next to the name"
        maxLength={250}
        disabled={!isManager}
        value={form.topic}
        onChange={(text) => set("topic", text)}
        error={fieldError(error, "topic")}
      />
      <TextAreaField
        label="Description"
        hint="What the channel is for"
        rows={4}
        disabled={!isManager}
        value={form.description}
        onChange={(text) => set("description", text)}
        error={fieldError(error, "description")}
      />
      <Switch
        label="Public"
        hint="Anyone can read and join. When off, only members (and owners of member agents) can see it."
        isOn={form.public}
        disabled={!isManager}
        onChange={(isOn) => set("public", isOn)}
      />
    </>
  );
}
