import { FILTERS, type Filter, type Search } from "./address";

/** Filters that are lists of names. */
export type ListFilter = "channel" | "agent" | "state" | "has";

export type Standing = "in" | "out" | "off";

export interface Item {
  name: string;
  isOut: boolean;
}

/** How filters are typed: as the hub calls its operators, or as it calls its parameters. */
const OPERATORS: Record<string, Filter> = {
  channel: "channel",
  in: "channel",
  agent: "agent",
  from: "agent",
  state: "state",
  is: "state",
  has: "has",
  after: "after",
  before: "before",
};
const OPERATOR = /^(channel|in|agent|from|state|is|has|after|before):(?=\S)/i;
const QUOTED = /^["“”„]([^"“”„]*)(?:["“”„]\*?|$)/;
const PLAIN = /^[^\s"“”„]*/;

export function isList(filter: Filter): filter is ListFilter {
  return filter !== "after" && filter !== "before";
}

/** One thing that was typed. Without a filter it is for the hub, as it stands. */
interface Piece {
  raw: string;
  filter?: Filter;
  isNegative: boolean;
  value: string;
}

/** Takes a text apart where the hub does. */
function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let rest = text.trimStart();
  while (rest) {
    const whole = rest;
    // `--flag` is something that people look for.
    const isNegative = /^-[^-\s]/.test(rest);
    if (isNegative) rest = rest.slice(1);
    const operator = OPERATOR.exec(rest);
    if (operator) rest = rest.slice(operator[0].length);
    const quoted = QUOTED.exec(rest);
    const taken = quoted?.[0] ?? PLAIN.exec(rest)![0];
    rest = rest.slice(taken.length);
    pieces.push({
      raw: whole.slice(0, whole.length - rest.length),
      filter: operator ? OPERATORS[operator[1]!.toLowerCase()] : undefined,
      isNegative,
      value: quoted?.[1] ?? taken,
    });
    rest = rest.trimStart();
  }
  return pieces;
}

/** The names in a list, where `-name` is left out. */
export function itemsOf(list: string | undefined): Item[] {
  return (list ?? "")
    .split(",")
    .map((part) => part.trim())
    .map((part) => ({ isOut: part.startsWith("-"), name: part.replace(/^-/, "").replace(/^[@#]/, "") }))
    .filter((item) => item.name !== "");
}

export function listOf(items: readonly Item[]): string | undefined {
  return items.length ? items.map((item) => (item.isOut ? "-" : "") + item.name).join(",") : undefined;
}

/** What a name in a list says of what is found. */
export function standingOf(list: string | undefined, name: string): Standing {
  const item = itemsOf(list).find((one) => one.name === name);
  return item ? (item.isOut ? "out" : "in") : "off";
}

export function withStanding(list: string | undefined, name: string, standing: Standing): string | undefined {
  const items = itemsOf(list);
  const at = items.findIndex((item) => item.name === name);
  const item = { name, isOut: standing === "out" };
  if (standing === "off") return listOf(items.filter((one) => one.name !== name));
  return listOf(at < 0 ? [...items, item] : items.with(at, item));
}

/**
 * A search with a new text: operators become filters, beside those that there are, and the rest is what is looked for. A date that is
 * excluded stays in the text, and the hub says what is wrong with it.
 */
export function withText(search: Search, text: string): Search {
  const next: Search = { ...search };
  const rest: string[] = [];
  for (const { raw, filter, isNegative, value } of piecesOf(text)) {
    if (filter === undefined || (isNegative && !isList(filter))) {
      rest.push(raw);
    } else if (isList(filter)) {
      for (const item of itemsOf(value)) {
        next[filter] = withStanding(next[filter], item.name, item.isOut !== isNegative ? "out" : "in");
      }
    } else {
      next[filter] = value;
    }
  }
  next.q = rest.join(" ") || undefined;
  return next;
}

/** Whether a text has operators that are typed to their end. */
export function hasFilters(text: string): boolean {
  return piecesOf(text).some(({ filter, isNegative }) => filter !== undefined && !(isNegative && !isList(filter)));
}

/** The filters as they are typed: what `withText` would read again. */
export function chipsOf(search: Search): Array<{ filter: Filter; value: string }> {
  return FILTERS.flatMap((filter) => {
    const value = search[filter];
    return value === undefined ? [] : [{ filter, value }];
  });
}

export function isBlank(search: Search): boolean {
  return search.q === undefined && chipsOf(search).length === 0;
}

/** What is being typed and can be completed: the value of an operator, or an operator. */
export type Partial =
  | { kind: "value"; filter: Filter; text: string; isOut: boolean; start: number; before: string }
  | { kind: "operator"; text: string; isOut: boolean; start: number };

export function partialAt(text: string, caret: number): Partial | null {
  const head = text.slice(0, caret);
  const value = /(?:^|\s)(-?)([a-z]+):([^\s"“”„]*)$/i.exec(head);
  const filter = value ? OPERATORS[value[2]!.toLowerCase()] : undefined;
  if (value && filter) {
    const typed = value[3]!;
    const comma = isList(filter) ? typed.lastIndexOf(",") + 1 : 0;
    const last = typed.slice(comma);
    return {
      kind: "value",
      filter,
      text: last.replace(/^-/, "").replace(/^[@#]/, ""),
      isOut: (value[1] === "-") !== last.startsWith("-"),
      start: caret - (value[1]!.length + value[2]!.length + 1 + typed.length),
      before: `${value[1]}${value[2]}:${typed.slice(0, comma)}`,
    };
  }
  const word = /(?:^|\s)(-?)([a-z]{2,})$/i.exec(head);
  return word ? { kind: "operator", text: word[2]!.toLowerCase(), isOut: word[1] === "-", start: caret - word[1]!.length - word[2]!.length } : null;
}
