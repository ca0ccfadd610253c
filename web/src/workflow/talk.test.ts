import { expect, test } from "vitest";

import type { Channel, Message } from "../api/types";
import { isKind } from "./kinds";
import { isTalk, mayBecomeTalk, mayBecomeWork } from "./talk";

const channels = [
  { name: "work", workflow_enabled: true },
  { name: "chat", workflow_enabled: false },
] as Channel[];
const message = (more: object = {}) =>
  ({ channel: "work", from: { name: "ada" }, metadata: {}, reactions: [], workflow_state: null, reply_to: null, ...more }) as unknown as Message;
const proposal = { metadata: { action_type: "publish" }, workflow_state: "proposed" };

test("talk is what has no state, where work is proposed", () => {
  expect(isTalk(message(), channels)).toBe(true);
  expect(isTalk(message(proposal), channels)).toBe(false);
  expect(isTalk(message({ channel: "chat" }), channels)).toBe(false);
  expect(isTalk(message({ channel: null }), channels)).toBe(false);
  expect(isTalk(message(), undefined)).toBe(false);
});

test("its author and the owner of the channel turn talk into work, but no reply", () => {
  expect(mayBecomeWork(message(), channels, "ada", "member")).toBe(true);
  expect(mayBecomeWork(message(), channels, "bob", "owner")).toBe(true);
  expect(mayBecomeWork(message(), channels, "bob", "member")).toBe(false);
  expect(mayBecomeWork(message({ reply_to: 7 }), channels, "ada", "member")).toBe(false);
  expect(mayBecomeWork(message({ deleted_at: "2026-01-01T00:00:00Z" }), channels, "ada", "member")).toBe(false);
  expect(mayBecomeWork(message(proposal), channels, "ada", "member")).toBe(false);
});

test("work becomes talk again while nobody has reacted", () => {
  expect(mayBecomeTalk(message(proposal), "ada", "member")).toBe(true);
  expect(mayBecomeTalk(message({ ...proposal, reactions: [{}] }), "ada", "member")).toBe(false);
  expect(mayBecomeTalk(message(), "ada", "member")).toBe(false);
  expect(mayBecomeTalk(message(proposal), "bob", "member")).toBe(false);
});

test("a kind is one short word", () => {
  expect(["publish", "a", "a-b_9", "x".repeat(64)].every(isKind)).toBe(true);
  expect(["", "Publish", "two words", "é", "x".repeat(65), "a\n"].some(isKind)).toBe(false);
});
