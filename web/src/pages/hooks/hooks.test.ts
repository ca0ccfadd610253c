import { expect, test } from "vitest";

import type { Hook, HookRequest } from "../../api/hooks";
import { Problem } from "../../api/problem";
import { EMPTY_FORM, changesOf, eventsError, eventsOf, formOf, githubEvents, newSecret, requestOf } from "./form";
import { keyed } from "./requests";
import { SAMPLES, previewOf } from "./template";

const hook: Hook = {
  id: "0123456789abcdef0123456789abcdef",
  name: "GitHub",
  author: "hook:abc",
  owner: "ada",
  kind: "github",
  target: { channel: "dev" },
  target_deleted: false,
  events: ["push", "issues.opened"],
  template: null,
  enabled: true,
  url: "https://hub.example/hooks/0123456789abcdef0123456789abcdef",
  created_at: "2026-11-16T10:00:00.000Z",
  last_request_at: null,
};

const said = (template: string, kind: Hook["kind"] = "github") => {
  const preview = previewOf(template, kind);
  return "fault" in preview ? preview.fault : preview.pieces.map((piece) => (piece.kind === "missing" ? `[${piece.text}]` : piece.text)).join("");
};

test("a preview fills in the values of the example", () => {
  expect(said("plain")).toBe("plain");
  expect(said("{{event}}: {{ body.issue.title }}!")).toBe("issues: Names get lost!");
  expect(said("#{{body.issue.number}} {{body.none.at}}|")).toBe("#7 [body.none.at]|");
  expect(said("{{body.text}} {{event}}", "url")).toBe("Deployment finished [event]");
  expect(said("{ {x} } }}")).toBe("{ {x} } }}");
  expect(said("{{body.repository}}")).toBe('{"full_name":"octo/hub"}');
  expect(said("{{body.constructor}} {{body.issue.title.length}}")).toBe("[body.constructor] [body.issue.title.length]");
});

test("a preview names the fault of a template", () => {
  for (const bad of ["{{event", "{{}}", "{{a..b}}", "{{a b}}", "{{<b>}}", `{{${Array(17).fill("a").join(".")}}}`, "{{a}}".repeat(101)]) {
    expect("fault" in previewOf(bad, "github"), bad).toBe(true);
  }
  expect("fault" in previewOf("{{a}}".repeat(100), "github")).toBe(false);
});

test("every placeholder that the form offers has a value in its example", () => {
  for (const kind of ["github", "standard", "url"] as const) {
    for (const name of SAMPLES[kind].placeholders) expect(said(`{{${name}}}`, kind), name).not.toContain("[");
  }
});

test("a form becomes a request", () => {
  const form = { ...EMPTY_FORM, name: " CI ", target: "#dev", events: "push,\n issues.opened push", template: " ", secret: "" };
  const request = { name: "CI", kind: "github", target: { channel: "dev" }, events: ["push", "issues.opened"], template: null, secret: null };
  expect(requestOf(form)).toEqual(request);
  expect(requestOf({ ...form, targetKind: "agent", target: "@scout" }).target).toEqual({ agent: "scout" });
  // The hub takes neither events nor a secret for this kind.
  expect(requestOf({ ...form, kind: "url", secret: "0123456789abcdef" })).toEqual({ ...request, kind: "url", events: [] });
  expect(eventsOf("")).toEqual([]);
});

test("only changed fields are sent", () => {
  const form = formOf(hook);
  expect(changesOf(hook, form)).toEqual({});
  // A deleted target stays as it is while another field changes.
  expect(changesOf({ ...hook, target_deleted: true }, { ...form, name: "Git" })).toEqual({ name: "Git" });
  expect(changesOf(hook, { ...form, targetKind: "agent", target: "scout", events: "" })).toEqual({ target: { agent: "scout" }, events: [] });
  expect(changesOf({ ...hook, template: "{{event}}" }, { ...form, template: "" })).toEqual({ template: null });
});

test("a refused event is named", () => {
  const refused = new Problem(422, "validation_failed", "", undefined, [{ field: "events[1]", message: "must be an event" }]);
  expect(eventsError(refused, { ...EMPTY_FORM, events: "push b!d" })).toBe("b!d must be an event.");
  expect(eventsError(new Problem(422, "validation_failed", ""), EMPTY_FORM)).toBeUndefined();
});

test("a new secret is long and fits the kind of the hook", () => {
  expect(newSecret("github")).toMatch(/^[0-9a-f]{64}$/);
  expect(atob(newSecret("standard").slice("whsec_".length))).toHaveLength(32);
  expect(newSecret("github")).not.toBe(newSecret("github"));
});

test("GitHub's choice of events follows the hook", () => {
  expect(githubEvents([])).toBe("Send me everything");
  expect(githubEvents(["push"])).toBe("Just the push event");
  expect(githubEvents(["issues.opened", "issues.closed", "push"])).toBe("Let me select individual events: issues, push");
});

test("requests keep their keys when newer ones come", () => {
  const request: HookRequest = { received_at: "2026-11-16T10:00:00.000Z", outcome: "invalid_signature" };
  const before = keyed([request, request]);
  const after = keyed([{ ...request, received_at: "2026-11-16T10:00:01.000Z" }, request, request, request]);
  expect(new Set(after.map(({ key }) => key)).size).toBe(4);
  expect(after.slice(2).map(({ key }) => key)).toEqual(before.map(({ key }) => key));
});
