import { expect, test } from "vitest";

import type { Revision } from "../api/history";
import type { Message } from "../api/types";
import { changedPart } from "./changed";
import { approvalWords, revisionsOf } from "./history";
import { lapsedWords } from "./lapsed";

const message = (more: object) => ({ id: 7, deleted_at: null, ...more }) as unknown as Message;

test("a message says whose approval was of another text", () => {
  const cases: Array<[string[] | undefined, string | undefined]> = [
    [undefined, undefined],
    [[], undefined],
    [["ada"], "Edited since you approved"],
    [["bob"], "Edited since @bob approved"],
    [["bob", "ada"], "Edited since you and @bob approved"],
    [["bob", "cy", "dee", "eve"], "Edited since @bob, @cy and 2 more approved"],
  ];
  for (const [lapsed_approvals, words] of cases) expect(lapsedWords(message({ lapsed_approvals }), "ada")).toBe(words);
  expect(lapsedWords(message({ lapsed_approvals: ["bob"], deleted_at: "2026-01-01T00:00:00Z" }), "ada")).toBeUndefined();
});

test("what changed is found in whole words", () => {
  const part = (before: string, now: string) => {
    const { start, end } = changedPart(before, now);
    return now.slice(start, end);
  };
  expect(part("pay 10 to bob", "pay 9000 to bob")).toBe("9000");
  expect(part("pay bob", "pay bob now")).toContain("now");
  expect(part("pay bob now", "pay now")).not.toContain("pay bob");
  expect(part("same", "same")).toBe("");
  expect(part("", "all new")).toBe("all new");
  expect(part("aaa", "aa")).toBe("");
  expect(part("I 😀 it", "I 😁 it")).toBe("😁");
});

test("the history marks who approved which text, and compares the text now with that", () => {
  const approval = { by: "ada", reaction: "approve" as const, at: "2026-01-01T00:00:00Z" };
  const text = (revision: number, body: string, approvals?: Revision["approvals"]): Revision => ({ revision, body, written_at: "2026-01-01T00:00:00Z", approvals });
  const shown = revisionsOf([text(1, "pay 10"), text(2, "pay 10 to bob", [approval]), text(3, "pay 10 to bob!"), text(4, "pay 90 to bob")]);
  expect(shown.map(({ revision, isCurrent }) => [revision, isCurrent])).toEqual([[4, true], [3, false], [2, false], [1, false]]);
  expect(shown[0]!.body.slice(shown[0]!.change!.start, shown[0]!.change!.end)).toBe("90");
  expect(shown[2]!.body.slice(shown[2]!.change!.start, shown[2]!.change!.end)).toBe("10");
  expect(shown.at(-1)!.change).toBeUndefined();
  expect(approvalWords([approval, { ...approval, reaction: "published" }], "bob")).toBe("approved by @ada");
  expect(approvalWords([approval], "ada")).toBe("approved by you");
  expect(approvalWords([], "ada")).toBeUndefined();
  expect(approvalWords(undefined, "ada")).toBeUndefined();
});

test("of very many texts the approved and the latest ones are shown", () => {
  const many = Array.from({ length: 500 }, (_, at): Revision => ({
    revision: at + 1,
    body: `text ${at}`,
    written_at: "2026-01-01T00:00:00Z",
    approvals: at === 3 ? [{ by: "ada", reaction: "approve", at: "2026-01-01T00:00:00Z" }] : [],
  }));
  const shown = revisionsOf(many);
  expect(shown).toHaveLength(21);
  expect(shown.at(-1)!.revision).toBe(4);
});
