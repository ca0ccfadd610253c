import { expect, test } from "vitest";

import type { Message } from "../api/types";
import { limitMs, sinceOf, staleWords, standingOf } from "./ages";
import { restOf, titleOf } from "./title";

const limits = { workflow_enabled: true, stalemate_remind_after: "24h", stalemate_escalate_after: "3d" };
const HOUR = 3_600_000;
const at = (hours: number) => new Date(hours * HOUR).toISOString();
const message = (more: object = {}) =>
  ({ workflow_state: "proposed", status: "pending", reactions: [], created_at: at(0), reply_to: null, ...more }) as unknown as Message;

test("limits are minutes, hours, days, or never", () => {
  expect(["30m", "24h", "7d", "0", "x"].map(limitMs)).toEqual([30 * 60_000, 24 * HOUR, 168 * HOUR, null, null]);
});

test("a state begins with the first reaction that makes it", () => {
  const reactions = [
    { reaction: "approve", created_at: at(1) },
    { reaction: "in_progress", created_at: at(5) },
  ];
  expect(sinceOf(message())).toBe(at(0));
  expect(sinceOf(message({ workflow_state: "approved", reactions }))).toBe(at(1));
  expect(sinceOf(message({ workflow_state: "in_progress", reactions }))).toBe(at(5));
});

test("what stands still is reminded of, then told to all", () => {
  const words = (hours: number) => staleWords(standingOf(message(), limits, hours * HOUR), limits);
  expect(standingOf(message(), limits, 23 * HOUR).isStale).toBe(false);
  expect(words(26)).toBe("1 d, reminded after 24h");
  expect(words(73)).toBe("3 d, everyone notified");
});

test("what is settled, talk, or without a workflow does not stand still", () => {
  const isStale = (more: object, of = limits) => standingOf(message(more), of, 1000 * HOUR).isStale;
  expect(isStale({})).toBe(true);
  expect(isStale({ workflow_state: "done", status: "done" })).toBe(false);
  expect(isStale({ status: "done" })).toBe(false);
  expect(isStale({ reply_to: 3 })).toBe(false);
  expect(isStale({ reply_to: 3, workflow_state: "in_progress" })).toBe(true);
  expect(isStale({}, { ...limits, workflow_enabled: false })).toBe(false);
  expect(isStale({}, { ...limits, stalemate_remind_after: "0", stalemate_escalate_after: "0" })).toBe(false);
});

test("a message is a line: its subject, or how it begins", () => {
  const titled = (more: object) => titleOf({ id: 7, body: "", attachments: [], ...more } as unknown as Message);
  expect(titled({ subject: "Section 5", body: "text" })).toBe("Section 5");
  expect(titled({ body: "\n## **Check** every [link](https://x.example)\nmore" })).toBe("Check every link");
  expect(titled({ attachments: [{ filename: "a.png" }] })).toBe("a.png");
  expect(titled({})).toBe("Message 7");
  expect(titled({ body: "x".repeat(500) })).toHaveLength(140);
  expect(restOf({ body: "one\n\n- two\nthree" } as unknown as Message)).toBe("two three");
});
