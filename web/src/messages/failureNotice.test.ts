import { expect, test } from "vitest";

import type { Message } from "../api/types";
import { isFailureNotice } from "./failureNotice";

const asked = (more: object = {}) => ({ from: { kind: "user", name: "mira" }, to: "scribe", status: "failed", ...more }) as unknown as Message;
const reply = (more: object = {}) =>
  ({ from: { kind: "agent", name: "scribe" }, metadata: { failed: true }, attachments: [], reactions: [], reply_count: 0, ...more }) as unknown as Message;

test("a reply that only reports a failure is not shown in full again", () => {
  expect(isFailureNotice(reply(), asked(), "mira")).toBe(true);
});

test("a reply is shown in full if the box at the message is missing or the reply says more", () => {
  expect(isFailureNotice(reply(), undefined, "mira")).toBe(false);
  expect(isFailureNotice(reply(), asked(), "tomas")).toBe(false);
  expect(isFailureNotice(reply(), asked({ status: "done" }), "mira")).toBe(false);
  expect(isFailureNotice(reply(), asked({ deleted_at: "2026-01-01T00:00:00Z" }), "mira")).toBe(false);
  expect(isFailureNotice(reply({ metadata: {} }), asked(), "mira")).toBe(false);
  expect(isFailureNotice(reply({ from: { kind: "agent", name: "critic" } }), asked(), "mira")).toBe(false);
  expect(isFailureNotice(reply({ reply_count: 1 }), asked(), "mira")).toBe(false);
  expect(isFailureNotice(reply({ attachments: [{}] }), asked(), "mira")).toBe(false);
});
