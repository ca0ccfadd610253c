import { expect, test } from "vitest";

import { Problem, sentenceOf } from "../../api/problem";
import { commandRefusal } from "./commandRefusal";

test("a person who may not run commands is addressed", () => {
  const refused = new Problem(403, "subprocess_not_allowed", "This owner's agents are not allowed to run commands on the server.", "Ask.");
  expect(sentenceOf(commandRefusal(refused))).toBe("Your agents are not allowed to run commands on this hub. Choose another way, or ask an admin.");
  const other = new Problem(409, "name_taken", "The name is taken.");
  expect(commandRefusal(other)).toBe(other);
});
