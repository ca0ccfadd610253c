import { expect, test } from "vitest";

import type { Author, Message, Reaction } from "../api/types";
import { fullName } from "../lib/names";
import type { Seat } from "../workflow/seat";
import { isUnclaimed, isUndecided, leading, listed, otherWords, publishedAt, reasonOf, removable, removalWords, stateNote, whoReacted, withReaction } from "./reactions";
import { isWork } from "./work";

const AT = "2026-11-14T09:00:00.000Z";
const person = (name: string): Author => ({ kind: "user", name, display_name: name });

function message(reactions: Array<[Reaction, string, object?]> = [], more: Partial<Message> = {}): Message {
  return {
    id: 1,
    conversation_id: 1,
    from: { kind: "agent", name: "scribe", display_name: "Scribe" },
    body: "x",
    status: "pending",
    priority: 5,
    metadata: {},
    mentions: [],
    created_at: AT,
    reply_count: 0,
    attachments: [],
    reactions: reactions.map(([reaction, name, metadata]) => ({
      reaction,
      from: name === "system" ? { kind: "system", name, display_name: "" } : person(name),
      metadata: (metadata ?? {}) as Record<string, never>,
      created_at: AT,
    })),
    workflow_state: "proposed",
    depth: 0,
    ...more,
  };
}

test("the highest reaction decides on the state", () => {
  expect(leading([])).toBeUndefined();
  expect(leading(message([["approve", "ada"], ["in_progress", "bob"]]).reactions)).toBe("in_progress");
  expect(leading(message([["reject", "ada"], ["in_progress", "bob"]]).reactions)).toBe("reject");
  expect(leading(message([["done", "ada"], ["reject", "bob"]]).reactions)).toBe("done");
  expect(leading(message([["done", "ada"], ["published", "bob"]]).reactions)).toBe("published");
});

test("a reaction is added once and taken back, and the state follows", () => {
  const approved = withReaction(message(), "approve", person("ada"), true, AT);
  expect(approved.workflow_state).toBe("approved");
  expect(withReaction(approved, "approve", person("ada"), true, AT)).toBe(approved);
  const claimed = withReaction(approved, "in_progress", person("bob"), true, AT);
  expect(claimed.workflow_state).toBe("in_progress");
  expect(withReaction(claimed, "in_progress", person("ada"), false, AT)).toBe(claimed);
  expect(withReaction(claimed, "in_progress", person("bob"), false, AT).workflow_state).toBe("approved");
  expect(withReaction(approved, "approve", person("ada"), false, AT)).toMatchObject({ reactions: [], workflow_state: null });
  const work = { metadata: { action_type: "publish" } as unknown as Record<string, never> };
  expect(withReaction(message([["approve", "ada"]], work), "approve", person("ada"), false, AT).workflow_state).toBe("proposed");
});

test("names are told as one says them, oneself first", () => {
  const shown = message([["approve", "tomas"], ["approve", "ada"], ["approve", "system"], ["reject", "eve"]]);
  expect(whoReacted(shown, "approve", "ada")).toEqual(["you", "@tomas", "the hub"]);
  expect(whoReacted(shown, "done", "ada")).toEqual([]);
  expect([listed([]), listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"]), listed(["a", "b", "c", "d"])]).toEqual([
    "",
    "a",
    "a and b",
    "a, b and c",
    "a, b and 2 more",
  ]);
});

test("the badge says who, and of claims how long ago", () => {
  const now = Date.parse(AT) + 12 * 60_000;
  expect(stateNote(message(), "ada", now)).toBeUndefined();
  expect(stateNote(message([["approve", "ada"], ["approve", "tomas"]]), "ada", now)).toBe("by you and @tomas");
  expect(stateNote(message([["in_progress", "scout"], ["approve", "ada"]]), "ada", now)).toBe("@scout, 12 min");
  expect(stateNote(message([["in_progress", "ada"]]), "ada", Date.parse(AT) + 5)).toBe("you, just now");
});

test("only an agent's proposal that nobody has decided on waits for a decision", () => {
  const action = { metadata: { action_type: "publish" } as unknown as Record<string, never> };
  expect(isUndecided(message([], action))).toBe(true);
  expect(isUndecided(message([], { ...action, from: person("ada") }))).toBe(false);
  expect(isWork(message([], action))).toBe(true);
  expect(isWork(message([], { workflow_state: null }))).toBe(false);
  expect(isUnclaimed(message([], action))).toBe(false);
  expect(isUnclaimed(message([], { ...action, from: person("ada") }))).toBe(true);
  expect(isUnclaimed(message([], { ...action, workflow_state: "approved" }))).toBe(true);
  expect(isUnclaimed(message([], { workflow_state: null }))).toBe(false);
  expect(isUndecided(message([], { ...action, workflow_state: "approved" }))).toBe(false);
  expect(isUndecided(message([], { ...action, deleted_at: AT }))).toBe(false);
  expect(isWork(message([], { workflow_state: "done", from: person("ada") }))).toBe(true);
});

test("the reason of a rejection is the nearest answer of whoever rejected", () => {
  const reply = (id: number, name: string, at: string, more: Partial<Message> = {}) =>
    message([], { id, from: person(name), created_at: at, ...more });
  const replies = [
    reply(2, "ada", "2026-11-14T08:00:00.000Z"),
    reply(3, "tomas", AT),
    reply(4, "ada", "2026-11-14T09:01:00.000Z"),
    reply(5, "ada", "2026-11-14T09:00:10.000Z", { deleted_at: AT }),
  ];
  expect(reasonOf(message([["reject", "ada"], ["approve", "tomas"]]), replies)?.id).toBe(4);
  expect(reasonOf(message([["reject", "eve"]]), replies)).toBeUndefined();
});

test("only a web address is where something was published", () => {
  expect(publishedAt(message([["published", "ada", { url: "https://a.example/x" }]]))).toBe("https://a.example/x");
  for (const url of ["javascript:alert(1)", "//a.example", "https://", 5, undefined]) {
    expect(publishedAt(message([["published", "ada", { url }]]))).toBeUndefined();
  }
  expect(publishedAt(message([["approve", "ada", { url: "https://a.example" }]]))).toBeUndefined();
});

test("names in tooltips carry the handle", () => {
  const named = message([["approve", "bob"], ["approve", "ada"]]);
  named.reactions[0]!.from.display_name = "Ada";
  expect(whoReacted(named, "approve", "ada", fullName)).toEqual(["you", "Ada (@bob)"]);
});

test("finished work says who said what else, without the claim of who finished it", () => {
  expect(otherWords(message([["approve", "ada"], ["in_progress", "bob"], ["done", "bob"]]), "ada")).toBe("approved by you");
  expect(otherWords(message([["approve", "bob"], ["in_progress", "bob"], ["reject", "ada"]]), "ada")).toBe("approved by @bob · claimed by @bob");
  expect(otherWords(message([["done", "bob"]]), "ada")).toBe("");
});

test("the owner of a channel may remove what others said, a member their claims", () => {
  const all = message([["approve", "ada"], ["in_progress", "bob"], ["approve", "cy"], ["done", "system"]], { channel: "work" });
  const words = (me: string, seat: Seat | undefined) => removable(all, me, seat).map((one) => removalWords(one, "Remove"));
  expect(words("ada", "owner")).toEqual(["Remove @bob's claim", "Remove @cy's approval", "Remove the hub's “done”"]);
  expect(words("ada", "member")).toEqual(["Remove @bob's claim"]);
  expect(words("bob", "member")).toEqual([]);
  expect(words("ada", "guest")).toEqual([]);
  expect(words("ada", undefined)).toEqual([]);
  expect(removable(all, undefined, "owner")).toEqual([]);
  expect(removable({ ...all, deleted_at: AT }, "ada", "owner")).toEqual([]);
  expect(removable({ ...all, channel: null }, "ada", "owner")).toEqual([]);
});

test("who decides again on an edited text is no longer named", () => {
  const edited = message([], { lapsed_approvals: ["ada", "bob"] });
  expect(withReaction(edited, "approve", person("ada"), true, AT).lapsed_approvals).toEqual(["bob"]);
  expect(withReaction(edited, "reject", person("bob"), true, AT).lapsed_approvals).toEqual(["ada"]);
  expect(withReaction(edited, "in_progress", person("ada"), true, AT).lapsed_approvals).toEqual(["ada", "bob"]);
});
