import { expect, test } from "vitest";

import type { Message } from "../api/types";
import { rowsOf } from "./rows";

function message(id: number, name: string, at: string, more: Partial<Message> = {}): Message {
  return {
    id,
    conversation_id: 1,
    from: { kind: "agent", name, display_name: name },
    body: "x",
    status: "done",
    priority: 5,
    metadata: {},
    mentions: [],
    created_at: at,
    reply_count: 0,
    attachments: [],
    reactions: [],
    workflow_state: "proposed",
    depth: 0,
    ...more,
  };
}

const MORNING = "2026-11-14T09:00:00.000Z";

test("one turn has one head, and each day has its line", () => {
  const messages = [
    message(1, "scout", MORNING),
    message(2, "scout", "2026-11-14T09:01:00.000Z"),
    message(3, "scribe", "2026-11-14T09:02:00.000Z"),
    message(4, "scribe", "2026-11-14T09:30:00.000Z"),
    message(5, "scribe", "2026-11-16T09:30:00.000Z"),
  ];
  const rows = rowsOf(messages, [], null, "ada");
  expect(rows.map((row) => row.kind)).toEqual(["day", "message", "message", "message", "message", "day", "message"]);
  const continued = rows.filter((row) => row.kind === "message").map((row) => row.isContinued);
  expect(continued).toEqual([false, true, false, false, false]);
});

test("what is new is divided from what is known, and one's own words are not news", () => {
  const messages = [message(1, "scout", MORNING), message(2, "ada", MORNING), message(3, "scout", MORNING), message(4, "scout", MORNING)];
  const rows = rowsOf(messages, [], 1, "ada");
  expect(rows.map((row) => row.key)).toEqual(["day 2026-11-14", "m1", "m2", "unread", "m3", "m4"]);
  expect(rows.find((row) => row.kind === "unread")).toMatchObject({ count: 2 });
  expect(rowsOf(messages, [], 4, "ada").some((row) => row.kind === "unread")).toBe(false);
  expect(rowsOf(messages, [], null, "ada").some((row) => row.kind === "unread")).toBe(false);
  // Who has read nothing finds the divider above everything, unless the first messages are not loaded.
  expect(rowsOf(messages, [], 0, "ada").map((row) => row.key).slice(0, 3)).toEqual(["unread", "day 2026-11-14", "m1"]);
  expect(rowsOf(messages, [], 0, "ada", [], true).some((row) => row.kind === "unread")).toBe(false);
});
