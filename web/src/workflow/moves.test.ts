import { expect, test } from "vitest";

import type { Author, Message, WorkflowState } from "../api/types";
import type { Reaction } from "../api/workflow";
import { backwards, moveTo, moveWords, stateOf } from "./moves";
import type { Seat } from "./seat";

const me: Author = { kind: "user", name: "mira", display_name: "Mira" };
const scribe: Author = { kind: "agent", name: "scribe", display_name: "Scribe" };

function message(...reactions: Array<[Reaction, Author]>): Message {
  const views = reactions.map(([reaction, from]) => ({ reaction, from, metadata: {}, created_at: "2027-01-15T08:00:00.000Z" }));
  return { id: 1, reactions: views, workflow_state: stateOf(views) } as unknown as Message;
}

function steps(of: Message, target: WorkflowState): string[] {
  const move = moveTo(of, target, me);
  if (!move.isPossible) throw new Error(move.reason);
  expect(stateOf(move.after)).toBe(target);
  return move.steps.map(({ does, reaction }) => `${does} ${reaction}`);
}

test("the highest reaction decides", () => {
  const order: Array<[Reaction, WorkflowState]> = [
    ["approve", "approved"],
    ["in_progress", "in_progress"],
    ["reject", "rejected"],
    ["done", "done"],
    ["published", "published"],
  ];
  expect(stateOf([])).toBe("proposed");
  for (const [at, [, state]] of order.entries()) {
    expect(stateOf(order.slice(0, at + 1).map(([reaction]) => ({ reaction })))).toBe(state);
  }
});

test("a move up adds a reaction, and leaves what counts less", () => {
  expect(steps(message(), "in_progress")).toEqual(["add in_progress"]);
  expect(steps(message(["approve", me]), "done")).toEqual(["add done"]);
  expect(steps(message(["done", scribe]), "published")).toEqual(["add published"]);
});

test("a move down takes one's own back, after what may be refused", () => {
  expect(steps(message(["approve", me]), "proposed")).toEqual(["remove approve"]);
  expect(steps(message(["in_progress", me]), "approved")).toEqual(["add approve", "remove in_progress"]);
  expect(steps(message(["approve", scribe], ["done", me], ["published", me]), "approved")).toEqual(["remove done", "remove published"]);
  // Somebody else's claim is enough.
  expect(steps(message(["in_progress", scribe], ["done", me]), "in_progress")).toEqual(["remove done"]);
});

test("what others said stays, and it is said who has to take it back", () => {
  const move = moveTo(message(["in_progress", scribe], ["approve", me]), "proposed", me);
  expect(move).toEqual({ isPossible: false, reason: "@scribe claimed it. Only they or a channel member can undo this." });
  const published = moveTo(message(["done", me], ["published", scribe]), "done", me);
  expect(moveWords(published)).toBe("@scribe published it. Only they or the channel owner can undo this.");
});

test("who may remove what others said is told where", () => {
  const claimed = message(["in_progress", scribe]);
  const words = (seat: Seat, of = claimed) => moveWords(moveTo(of, "proposed", me, seat));
  expect(words("member")).toBe("@scribe claimed it. You can remove this in the message menu.");
  expect(words("owner")).toBe(words("member"));
  expect(words("guest")).toContain("Only they or a channel member");
  expect(words("member", message(["done", scribe]))).toContain("Only they or the channel owner");
  expect(words("owner", message(["done", scribe]))).toContain("in the message menu");
});

test("a guest does not finish what somebody else has claimed", () => {
  const claimed = { ...message(["in_progress", scribe]), channel: "open" };
  for (const target of ["done", "published"] as const) {
    expect(moveWords(moveTo(claimed, target, me, "guest"))).toBe(`@scribe claimed this. Only they or a member of #open can mark it ${target}.`);
    expect(moveTo(claimed, target, me, "member").isPossible).toBe(true);
    expect(moveTo(claimed, target, me).isPossible).toBe(true);
  }
  expect(moveTo(claimed, "rejected", me, "guest").isPossible).toBe(true);
});

test("taking a move back goes the other way round", () => {
  const move = moveTo(message(["in_progress", me]), "approved", me);
  expect(move.isPossible && backwards(move.steps)).toEqual([
    { does: "add", reaction: "in_progress" },
    { does: "remove", reaction: "approve" },
  ]);
});
