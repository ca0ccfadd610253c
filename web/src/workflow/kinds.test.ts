import { expect, test } from "vitest";

import { offeredKinds } from "./kinds";

test("kinds in use come first, and each is offered once", () => {
  expect(offeredKinds(["review", "operate", "review", "No Good"], "publish")).toEqual(["operate", "review", "publish", "research", "deploy"]);
});

test("the chosen kind is offered, also if nobody has used it", () => {
  expect(offeredKinds([], "translate").at(-1)).toBe("translate");
  expect(offeredKinds([], "not a kind")).toEqual(["publish", "research", "review", "deploy"]);
});
