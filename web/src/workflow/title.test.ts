import { expect, test } from "vitest";

import type { Message } from "../api/types";
import { answerWords, briefly, isCutShort, restOf, titleOf } from "./title";

const message = (more: object) =>
  ({ id: 7, subject: null, body: "", attachments: [], from: { name: "scout", display_name: "The Scout" }, ...more }) as unknown as Message;

test("a message is called by its subject, or by how it begins", () => {
  expect(titleOf(message({ subject: "Plan", body: "x" }))).toBe("Plan");
  expect(titleOf(message({ body: "\n## **Land** ahead\nmore" }))).toBe("Land ahead");
  expect(titleOf(message({}))).toBe("Message 7");
});

test("an answer says to whom and to what", () => {
  expect(answerWords(message({ body: "who `knows`?" }))).toBe("reply to The Scout (@scout): who knows?");
  expect(answerWords(message({ body: "", deleted_at: "2026-01-01T00:00:00Z" }))).toBe("reply to The Scout (@scout)");
  expect(answerWords(undefined)).toBe("in a thread");
});

test("in passing it is called by its first words", () => {
  expect(briefly(message({ subject: "word ".repeat(20) }))).toBe(`${"word ".repeat(9)}word…`);
  expect(briefly(message({ body: "Plan" }))).toBe("Plan");
});

test("hidden characters are written out", () => {
  expect(titleOf(message({ subject: "Pay\u202e" }))).toBe("Pay[U+202E]");
  expect(titleOf(message({ body: "Pay \u{e0069}\u{e0067}now" }))).toBe("Pay [2 invisible]now");
  expect(restOf(message({ body: "Pay\n\u200bnow" }))).toBe("[U+200B]now");
});

test("a preview says whether it leaves something out", () => {
  for (const body of ["", "Plan", "# Plan\n\n- **one**\n> two", "a\u200bb"]) expect(isCutShort(message({ body })), body).toBe(false);
  const cut = ["word ".repeat(200), `Plan\n${"word ".repeat(200)}`, "[here](https://a.example)", "x\n".repeat(5000)];
  for (const body of cut) expect(isCutShort(message({ body })), body.slice(0, 40)).toBe(true);
  expect(isCutShort(message({ subject: "Plan", body: "all of it" }))).toBe(false);
});

// A quadratic expression would take longer than a test may.
test("hostile texts have titles, too", () => {
  for (const part of ["[", "[a](", "\n", " \n", "![", "```", "*", "\u200b", "1"]) {
    const hostile = message({ body: part.repeat(200_000) });
    for (let times = 0; times < 200; times++) expect(titleOf(hostile).length + restOf(hostile).length).toBeLessThan(1000);
  }
});

test("a title needs the beginning of a text, and is made once for each message", () => {
  expect(titleOf(message({ body: `${"\n".repeat(600)}late` }))).toBe("Message 7");
  let reads = 0;
  const counted = Object.defineProperty(message({}), "body", {
    get: () => {
      reads++;
      return "Plan";
    },
  });
  expect(titleOf(counted)).toBe("Plan");
  const before = reads;
  for (let times = 0; times < 10; times++) [titleOf(counted), restOf(counted), isCutShort(counted), briefly(counted)];
  expect(reads).toBe(before);
});
