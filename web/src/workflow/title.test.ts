import { expect, test } from "vitest";

import type { Message } from "../api/types";
import { answerWords, briefly, titleOf } from "./title";

const message = (more: object) =>
  ({ id: 7, subject: null, body: "", attachments: [], from: { name: "scout", display_name: "Scout" }, ...more }) as unknown as Message;

test("a message is called by its subject, or by how it begins", () => {
  expect(titleOf(message({ subject: "Plan", body: "x" }))).toBe("Plan");
  expect(titleOf(message({ body: "\n## **Land** ahead\nmore" }))).toBe("Land ahead");
  expect(titleOf(message({}))).toBe("Message 7");
});

test("an answer says to whom and to what", () => {
  expect(answerWords(message({ body: "who `knows`?" }))).toBe("reply to Scout: who knows?");
  expect(answerWords(message({ body: "", deleted_at: "2026-01-01T00:00:00Z" }))).toBe("reply to Scout");
  expect(answerWords(undefined)).toBe("in a thread");
});

test("in passing it is called by its first words", () => {
  expect(briefly(message({ subject: "word ".repeat(20) }))).toBe(`${"word ".repeat(9)}word…`);
  expect(briefly(message({ body: "Plan" }))).toBe("Plan");
});
