import { appearance } from "./appearance";

function zone(): string | undefined {
  return appearance.get().zone === "utc" ? "UTC" : undefined;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Making a format takes a thousand times as long as using it. */
function formatted(at: string, options: Intl.DateTimeFormatOptions): string {
  const key = JSON.stringify([options, zone()]);
  let format = formats.get(key);
  if (!format) formats.set(key, (format = new Intl.DateTimeFormat(undefined, { ...options, timeZone: zone() })));
  return format.format(new Date(at));
}

export function clockTime(at: string): string {
  return formatted(at, { timeStyle: "short" });
}

/** To the second, where the day is known. */
export function secondTime(at: string): string {
  return formatted(at, { timeStyle: "medium" });
}

/** With its zone, for whoever wants to know exactly. */
export function exactTime(at: string): string {
  return formatted(at, { dateStyle: "full", timeStyle: "long" });
}

/** Day and time to the second, for tables. */
export function dateTime(at: string): string {
  return formatted(at, { dateStyle: "medium", timeStyle: "medium" });
}

/** A moment as `<input type="datetime-local">` wants it, in the zone that is shown. */
export function toInput(at: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "";
  const shift = zone() === "UTC" ? 0 : date.getTimezoneOffset() * 60_000;
  return new Date(date.getTime() - shift).toISOString().slice(0, 16);
}

/** What such an input says, as a moment. */
export function fromInput(text: string): string | undefined {
  const date = new Date(zone() === "UTC" ? `${text}Z` : text);
  return text === "" || Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** The day of a moment, as something to compare. By hand, for a long conversation asks it of each of its messages. */
export function dayOf(at: string): string {
  const date = new Date(at);
  const shift = zone() === "UTC" ? 0 : date.getTimezoneOffset() * 60_000;
  return Number.isNaN(date.getTime()) ? "" : new Date(date.getTime() - shift).toISOString().slice(0, 10);
}

export function dayName(at: string, now = new Date()): string {
  const day = dayOf(at);
  if (day === dayOf(now.toISOString())) return "Today";
  if (day === dayOf(new Date(now.getTime() - 86_400_000).toISOString())) return "Yesterday";
  const isThisYear = day.slice(0, 4) === dayOf(now.toISOString()).slice(0, 4);
  return formatted(at, { weekday: "long", day: "numeric", month: "long", year: isThisYear ? undefined : "numeric" });
}

/** A moment within a sentence: `today, 17:42`. */
export function dayAndTime(at: string): string {
  return `${dayName(at).replace(/^(Today|Yesterday)$/, (word) => word.toLowerCase())}, ${clockTime(at)}`;
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

/** How long ago something was, or how long it is until then: `12 min ago`, `in 2 d`. */
export function ago(at: string, now = Date.now()): string {
  const passed = now - new Date(at).getTime();
  if (passed <= -60_000) return `in ${duration(-passed)}`;
  return passed < 60_000 ? "just now" : `${duration(passed)} ago`;
}

/** The same where there is little room, and what stands beside it says that it is past. */
export function age(at: string, now = Date.now()): string {
  return ago(at, now).replace(/^just | ago$/g, "");
}
