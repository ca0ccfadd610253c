import type { CreateHook, Hook, HookChanges, HookKind } from "../../api/hooks";
import { Problem } from "../../api/problem";

/** A hook as the fields of a form have it. */
export interface HookForm {
  name: string;
  kind: HookKind;
  targetKind: "channel" | "agent";
  /** The name of the channel or of the agent. */
  target: string;
  events: string;
  template: string;
  /** The secret of the other service; empty if the hub creates one. */
  secret: string;
}

export const EMPTY_FORM: HookForm = { name: "", kind: "github", targetKind: "channel", target: "", events: "", template: "", secret: "" };

export function formOf(hook: Hook): HookForm {
  return {
    name: hook.name,
    kind: hook.kind,
    targetKind: hook.target.agent ? "agent" : "channel",
    target: hook.target.agent ?? hook.target.channel ?? "",
    events: hook.events.join(", "),
    template: hook.template ?? "",
    secret: "",
  };
}

/** The events in a text, with commas or blanks between them. */
export function eventsOf(text: string): string[] {
  return [...new Set(text.split(/[\s,]/).filter(Boolean))];
}

function targetOf({ targetKind, target }: HookForm): Hook["target"] {
  const name = target.trim();
  return targetKind === "channel" ? { channel: name.startsWith("#") ? name.slice(1) : name } : { agent: name.startsWith("@") ? name.slice(1) : name };
}

export function requestOf(form: HookForm): CreateHook {
  const isSigned = form.kind !== "url";
  return {
    name: form.name.trim(),
    kind: form.kind,
    target: targetOf(form),
    events: isSigned ? eventsOf(form.events) : [],
    template: form.template.trim() ? form.template : null,
    secret: (isSigned && form.secret.trim()) || null,
  };
}

/** The fields that differ from the hook. */
export function changesOf(hook: Hook, form: HookForm): HookChanges {
  const { name, target, events = [], template } = requestOf(form);
  const changes: HookChanges = {};
  const isTargetKept = (target.channel ?? null) === (hook.target.channel ?? null) && (target.agent ?? null) === (hook.target.agent ?? null);
  if (name !== hook.name) changes.name = name;
  if (!isTargetKept) changes.target = target;
  if (events.join() !== hook.events.join()) changes.events = events;
  if ((template ?? null) !== (hook.template ?? null)) changes.template = template ?? null;
  return changes;
}

/** The hub names the place of a wrong event in the list. This names the event. */
export function eventsError(error: unknown, form: HookForm): string | undefined {
  if (!(error instanceof Problem)) return undefined;
  const events = eventsOf(form.events);
  const faults = error.fields.filter(({ field }) => isEventField(field));
  const said = faults.map(({ field, message }) => `${events[Number(field.slice("events[".length, -1))] ?? "The list"} ${message}.`);
  return said.length ? said.join(" ") : undefined;
}

export function isEventField(field: string): boolean {
  return field === "events" || field.startsWith("events[");
}

/** A secret as the kind of hook needs it, from the random numbers of the browser. */
export function newSecret(kind: HookKind): string {
  const random = crypto.getRandomValues(new Uint8Array(32));
  if (kind === "standard") return `whsec_${btoa(String.fromCharCode(...random))}`;
  return Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** What to choose on GitHub, so that it sends the events of the hook. */
export function githubEvents(events: readonly string[]): string {
  if (events.length === 0) return "Send me everything";
  const names = [...new Set(events.map((event) => event.split(".")[0]!))];
  return names.length === 1 && names[0] === "push" ? "Just the push event" : `Let me select individual events: ${names.join(", ")}`;
}
