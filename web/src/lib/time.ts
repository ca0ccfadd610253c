import { load } from "./storage";

export interface Appearance {
  theme?: "light" | "dark" | "system";
  density?: "comfortable" | "compact";
  text?: "small" | "medium" | "large";
  zone?: "local" | "utc";
  keys?: "on" | "off";
}

export const APPEARANCE = "stoa.appearance";

function zone(): string | undefined {
  return load<Appearance>(APPEARANCE, {}).zone === "utc" ? "UTC" : undefined;
}

export function clockTime(at: string): string {
  return new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", timeZone: zone() }).format(new Date(at));
}

/** With its zone, for whoever wants to know exactly. */
export function exactTime(at: string): string {
  const format = new Intl.DateTimeFormat(undefined, {
    dateStyle: "full",
    timeStyle: "long",
    timeZone: zone(),
  });
  return format.format(new Date(at));
}

/** The day of a moment, as something to compare. */
export function dayOf(at: string): string {
  return new Intl.DateTimeFormat("en-CA", { timeZone: zone() }).format(new Date(at));
}

export function dayName(at: string, now = new Date()): string {
  const day = dayOf(at);
  if (day === dayOf(now.toISOString())) return "Today";
  if (day === dayOf(new Date(now.getTime() - 86_400_000).toISOString())) return "Yesterday";
  const isThisYear = day.slice(0, 4) === dayOf(now.toISOString()).slice(0, 4);
  return new Intl.DateTimeFormat(undefined, {
    weekday: "long",
    day: "numeric",
    month: "long",
    year: isThisYear ? undefined : "numeric",
    timeZone: zone(),
  }).format(new Date(at));
}

const STEPS: Array<[number, string]> = [
  [60, "s"],
  [60, "min"],
  [24, "h"],
  [Number.POSITIVE_INFINITY, "d"],
];

/** How long something took or is ago: `12 min`. */
export function duration(milliseconds: number): string {
  let value = Math.max(0, milliseconds) / 1000;
  for (const [size, unit] of STEPS) {
    if (value < size) return `${Math.floor(value)} ${unit}`;
    value /= size;
  }
  return "";
}

export function ago(at: string, now = Date.now()): string {
  const passed = now - new Date(at).getTime();
  if (passed <= -60_000) return `in ${duration(-passed)}`;
  return passed < 60_000 ? "now" : duration(passed);
}
