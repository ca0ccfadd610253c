import { expect, test } from "vitest";

import type { Message } from "../api/types";
import { announcementOf } from "./announce";

const said = (name: string, body = "x", display_name = "") => ({ from: { kind: "agent", name, display_name }, body }) as Message;

test("one message is read out, several are counted", () => {
  expect(announcementOf([])).toBe("");
  expect(announcementOf([said("scout", "hello\n\nthere")])).toBe("@scout: hello there");
  expect(announcementOf([said("scout", "hello", "Ada")])).toBe("Ada (@scout): hello");
  expect(announcementOf([said("scout", "pay\u202e evil", "Ad\u200ba")])).toBe("Ad[U+200B]a (@scout): pay[U+202E] evil");
  expect(announcementOf([said("scout", "y".repeat(500))])).toHaveLength("@scout: ".length + 121);
  expect(announcementOf([said("scout"), said("scribe"), said("scout")])).toBe("3 new messages from @scout, @scribe");
  expect(announcementOf(["a", "b", "c", "d"].map((name) => said(name)))).toBe("4 new messages from @a, @b and 2 others");
});
