import type { ChannelForm, FormField } from "./draft";

/** What the fields of a channel form need. */
export interface FieldsProps {
  form: ChannelForm;
  set: <Name extends FormField>(field: Name, value: ChannelForm[Name]) => void;
  error: unknown;
  isManager: boolean;
}
