import { expect, test } from "vitest";

import type { Message } from "../api/types";
import { nextWords } from "./nextWords";

const work = (more: object) => ({ workflow_state: "approved", channel: "work", from: { kind: "agent", name: "scribe" }, ...more }) as unknown as Message;

test("approved work says who acts next, and how its author hears of it", () => {
  expect(nextWords(work({}))).toBe("Anyone in the channel can claim it now. To tell @scribe, mention it in a reply.");
  expect(nextWords(work({ from: { kind: "user", name: "tomas" } }))).toBe("Anyone in the channel can claim it now.");
});

test("other work and direct messages say nothing", () => {
  expect(nextWords(work({ workflow_state: "in_progress" }))).toBeUndefined();
  expect(nextWords(work({ channel: null }))).toBeUndefined();
  expect(nextWords(work({ deleted_at: "2026-01-01T00:00:00Z" }))).toBeUndefined();
});
