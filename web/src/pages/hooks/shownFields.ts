import { Problem } from "../../api/problem";
import { isEventField } from "./form";

const FIELDS = ["name", "target", "target.channel", "target.agent", "template", "secret"];

/** The fields of a refusal that the form shows beside its own fields. */
export function shownFields(error: unknown): string[] {
  const fields = error instanceof Problem ? error.fields.map(({ field }) => field) : [];
  return fields.filter((field) => FIELDS.includes(field) || isEventField(field));
}
