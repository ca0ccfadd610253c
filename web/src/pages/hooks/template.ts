import type { HookKind } from "../../api/hooks";

/** A part of a message: words of the template, a value of the request, or a placeholder without a value. */
export interface Piece {
  kind: "text" | "value" | "missing";
  text: string;
}

export type Preview = { pieces: Piece[] } | { fault: string };

interface Sample {
  event: string | null;
  id: string | null;
  body: unknown;
  /** The message of the hub if the hook has no template. */
  message: string;
  placeholders: readonly string[];
}

/** Example requests. The preview of a template takes its values from them. */
export const SAMPLES: Record<HookKind, Sample> = {
  github: {
    event: "issues",
    id: "72d3162e-cc78-11e3-81ab-4c9367dc0958",
    body: {
      action: "opened",
      issue: { number: 7, title: "Names get lost", html_url: "https://github.com/octo/hub/issues/7" },
      repository: { full_name: "octo/hub" },
      sender: { login: "octocat" },
    },
    message: "octo/hub: octocat opened issue #7 Names get lost\nhttps://github.com/octo/hub/issues/7",
    placeholders: ["event", "id", "body.action", "body.repository.full_name", "body.sender.login", "body.issue.title", "body.issue.html_url"],
  },
  standard: {
    event: "invoice.paid",
    id: "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W",
    body: { type: "invoice.paid", timestamp: "2026-11-16T10:10:00Z", data: { id: "in_42", total: 1200 } },
    message: 'invoice.paid\n```json\n{\n  "id": "in_42",\n  "total": 1200\n}\n```',
    placeholders: ["event", "id", "body.timestamp", "body.data.id", "body.data.total"],
  },
  url: {
    event: null,
    id: null,
    body: { text: "Deployment finished" },
    message: "Deployment finished",
    placeholders: ["body.text"],
  },
};

const MOST_NAMES = 16;
const MOST_VALUES = 100;
const NAME = /^[\p{Alphabetic}\p{N}_-]+$/u;

/** The message that a template makes of an example request, by the rules of the hub. */
export function previewOf(template: string, kind: HookKind): Preview {
  const { event, id, body } = SAMPLES[kind];
  const pieces: Piece[] = [];
  let values = 0;
  let at = 0;
  for (let open = template.indexOf("{{"); open >= 0; open = template.indexOf("{{", at)) {
    const close = template.indexOf("}}", open + 2);
    if (close < 0) return { fault: "A {{ has no closing }}." };
    if (open > at) pieces.push({ kind: "text", text: template.slice(at, open) });
    const path = template.slice(open + 2, close).trim();
    const names = path.split(".");
    if (names.length > MOST_NAMES || !names.every((name) => NAME.test(name))) {
      return { fault: "Use names such as event or body.repository.full_name between {{ and }}." };
    }
    values += 1;
    if (values > MOST_VALUES) return { fault: `A template can have at most ${MOST_VALUES} placeholders.` };
    const value = valueAt({ event, id, body }, names);
    pieces.push(value === null ? { kind: "missing", text: path } : { kind: "value", text: value });
    at = close + 2;
  }
  if (at < template.length) pieces.push({ kind: "text", text: template.slice(at) });
  return { pieces };
}

function valueAt(document: unknown, names: readonly string[]): string | null {
  let value = document;
  for (const name of names) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return null;
    value = (value as Record<string, unknown>)[name];
  }
  if (value === null || value === undefined) return null;
  return typeof value === "string" ? value : JSON.stringify(value);
}
