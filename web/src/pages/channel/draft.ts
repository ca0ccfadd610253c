import type { Channel } from "../../api/types";

/** What can be changed of a channel, as the form has it. Numbers are text as long as they are typed. */
export interface ChannelForm {
  topic: string;
  description: string;
  public: boolean;
  workflow_enabled: boolean;
  auto_approve: boolean;
  stalemate_remind_after: string;
  stalemate_escalate_after: string;
  approve_threshold: string;
  publish_threshold: string;
}

export type FormField = keyof ChannelForm;

export const ABOUT: readonly FormField[] = ["topic", "description", "public"];
export const WORKFLOW: readonly FormField[] = [
  "workflow_enabled",
  "auto_approve",
  "approve_threshold",
  "publish_threshold",
  "stalemate_remind_after",
  "stalemate_escalate_after",
];

export const LABELS: Record<FormField, string> = {
  topic: "Topic",
  description: "Description",
  public: "Public",
  workflow_enabled: "Workflow",
  auto_approve: "Auto-approve trusted agents",
  approve_threshold: "Approve threshold",
  publish_threshold: "Publish threshold",
  stalemate_remind_after: "Remind after",
  stalemate_escalate_after: "Escalate after",
};

export function formOf(channel: Channel): ChannelForm {
  return {
    topic: channel.topic,
    description: channel.description,
    public: channel.public,
    workflow_enabled: channel.workflow_enabled,
    auto_approve: channel.auto_approve,
    stalemate_remind_after: channel.stalemate_remind_after,
    stalemate_escalate_after: channel.stalemate_escalate_after,
    approve_threshold: String(channel.approve_threshold),
    publish_threshold: String(channel.publish_threshold),
  };
}

/** What differs between two states, among some fields. */
export function changed(before: ChannelForm, after: ChannelForm, fields: readonly FormField[]): FormField[] {
  return fields.filter((field) => before[field] !== after[field]);
}

/** The fields of a form as the hub wants them. */
export function bodyOf(form: ChannelForm, fields: readonly FormField[]): Record<string, string | number | boolean> {
  return Object.fromEntries(
    fields.map((field) => [field, field.endsWith("_threshold") ? Number(form[field]) : form[field]]),
  );
}

/** A value in words, to compare. */
export function valueWords(value: string | boolean): string {
  if (typeof value === "boolean") return value ? "on" : "off";
  return value === "" ? "empty" : `“${value}”`;
}

const LONGEST_DAYS = 365;
const DAYS: Record<string, number> = { m: 1 / 1440, h: 1 / 24, d: 1 };

export function durationFault(text: string): string | undefined {
  const match = /^([1-9][0-9]{0,5})([mhd])$/.exec(text);
  const fits = text === "0" || (match !== null && Number(match[1]) * DAYS[match[2]!]! <= LONGEST_DAYS);
  return fits ? undefined : "Enter a time such as 30m, 24h or 7d (at most 365d), or 0 for off.";
}

export function thresholdFault(text: string): string | undefined {
  const number = Number(text);
  return text.trim() !== "" && number >= 0 && number <= 1 ? undefined : "Enter a number between 0 and 1.";
}

/** What is wrong with a field, before the hub is asked. */
export function faultOf(field: FormField, form: ChannelForm): string | undefined {
  const value = form[field];
  if (typeof value === "boolean") return undefined;
  if (field.startsWith("stalemate_")) return durationFault(value);
  return field.endsWith("_threshold") ? thresholdFault(value) : undefined;
}
