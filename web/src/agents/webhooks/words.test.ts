import { expect, test } from "vitest";

import type { Delivery, Webhook } from "../../api/webhooks";
import { answerOf, healthOf, isSending, pulseOf, reasonOf, stateOf, statusOf, took } from "./words";

const delivery = (status: Delivery["status"], times: number[], event: Delivery["event"] = "channel.message") =>
  ({ status, event, attempts: times.map((duration_ms) => ({ at: "2026-11-17T08:00:00.000Z", duration_ms })) }) as Delivery;

test("health counts what came to an end, without tests", () => {
  const all = [
    delivery("delivered", [900, 30]),
    delivery("delivered", [10]),
    delivery("delivered", [50]),
    delivery("dead", [5000]),
    delivery("pending", [1]),
    delivery("held", []),
    delivery("delivered", [70_000], "webhook.ping"),
  ];
  expect(healthOf(all)).toEqual({ delivered: 3, ended: 4, medianMs: 30 });
  expect(healthOf([])).toEqual({ delivered: 0, ended: 0, medianMs: null });
});

test("each reason to be disabled has its own words", () => {
  const of = (disabled_reason: "failures" | "gone" | "by_owner" | "unconfirmed" | "unreachable", waiting = 0) =>
    stateOf({ status: "disabled", disabled_reason, waiting });
  expect(of("failures", 1).about).toContain("holds 1 delivery for up to 72 hours");
  expect(of("failures", 12).about).toContain("holds 12 deliveries");
  expect(of("gone").about).toContain("410");
  const words = [of("failures"), of("gone"), of("by_owner"), of("unconfirmed"), of("unreachable")].map(({ about }) => about);
  expect(new Set(words).size).toBe(5);
  expect(stateOf({ status: "active", waiting: 3 }).about).toBeNull();
});

test("a webhook shows that something has happened to its deliveries", () => {
  const still = { id: 1, status: "active", waiting: 0, dead_letters: 2, consecutive_failures: 0, last_delivery_at: "2026-11-17T08:00:00.000Z" } as Webhook;
  const pulses = [still, { ...still, waiting: 1 }, { ...still, dead_letters: 3 }, { ...still, last_delivery_at: "2026-11-17T08:00:00.001Z" }].map((one) => pulseOf([one]));
  expect(new Set(pulses).size).toBe(4);
  expect(pulseOf([{ ...still }])).toBe(pulses[0]);
  expect([still, { ...still, waiting: 1 }, { ...still, waiting: 1, disabled_reason: "failures" as const }].map(isSending)).toEqual([false, true, false]);
});

test("answers are words, and unknown ones are shown as they are", () => {
  expect(answerOf({ status: 503 })).toBe("503 Unavailable");
  expect(answerOf({ status: 599 })).toBe("599");
  expect(answerOf({ error: "timed_out" })).toBe("timed out");
  expect(answerOf({ error: "something_new" })).toBe("something_new");
  expect(answerOf({})).toBe("no response");
  expect(took(0)).toBe("< 50 ms");
  expect(took(999)).toBe("999 ms");
  expect(took(10_040)).toBe("10.0 s");
});

test("a delivery that failed before is retrying", () => {
  expect(statusOf(delivery("pending", [])).word).toBe("Pending");
  expect(statusOf(delivery("pending", [4])).word).toBe("Retrying");
  expect(statusOf(delivery("dead", [4])).word).toBe("Dead letter");
});

test("a reason is shown only where the attempts do not show it", () => {
  expect(reasonOf({ status: "dead", reason: null, depth: 0 })).toBeNull();
  expect(reasonOf({ status: "dead", reason: "deleted", depth: 0 })).toBe("The message was deleted.");
  expect(reasonOf({ status: "suppressed_loop", depth: 5 })).toContain("5 automated steps");
});
