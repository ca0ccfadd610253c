import { expect, test } from "vitest";

import { searchIn } from "./address";
import { chipsOf, hasFilters, isBlank, itemsOf, listOf, partialAt, standingOf, withStanding, withText } from "./query";

test("the address is read with care", () => {
  expect(searchIn({ q: 42, channel: "", agent: ["a"], after: 2026, shown: "100", other: "x" })).toEqual({
    q: "42",
    channel: undefined,
    agent: undefined,
    state: undefined,
    has: undefined,
    after: "2026",
    before: undefined,
    shown: 100,
  });
  expect(searchIn({ shown: -1 }).shown).toBeUndefined();
});

test("operators become filters, and the rest is looked for", () => {
  expect(withText({}, "retry channel:release-notes,research,-general after:2026-11-01 agent:-porter limit")).toEqual({
    q: "retry limit",
    channel: "release-notes,research,-general",
    after: "2026-11-01",
    agent: "-porter",
  });
});

test("the hub's operators are the same filters, each name once", () => {
  const search = withText({ channel: "ops,-general" }, "in:general -in:#ops from:@scout -from:porter is:done has:link -has:image");
  expect(search).toEqual({ channel: "-ops,general", agent: "scout,-porter", state: "done", has: "link,-image", q: undefined });
});

test("what is no operator stays as it is typed", () => {
  for (const text of ['"deploy failed" -"all of it" dep*', "foo:bar --flag AND -x", '"in:ops" x', "in: ops", "-after:2026-01-01", '"open end']) {
    expect(withText({}, text), text).toEqual({ q: text });
    expect(hasFilters(text), text).toBe(false);
  }
  expect(hasFilters("x in:ops")).toBe(true);
});

test("a value may be quoted, and a word ends where a quotation begins", () => {
  expect(withText({}, 'in:"ops" a"b c"')).toEqual({ channel: "ops", q: 'a "b c"' });
});

test("a new date takes the place of the old one", () => {
  expect(withText({ after: "2026-01-01" }, "after:2027-01-01").after).toBe("2027-01-01");
});

test("lists are read and written alike", () => {
  const items = [
    { name: "a", isOut: false },
    { name: "b", isOut: true },
  ];
  expect(itemsOf(" #a, -@b ,,")).toEqual(items);
  expect(listOf(items)).toBe("a,-b");
  expect(listOf([])).toBeUndefined();
  expect(standingOf("a,-b", "b")).toBe("out");
  expect(withStanding("a,-b", "b", "in")).toBe("a,b");
  expect(withStanding("a,-b", "a", "off")).toBe("-b");
  expect(withStanding("a", "a", "off")).toBeUndefined();
  expect(withStanding(undefined, "c", "out")).toBe("-c");
});

test("a search survives the way into chips and back", () => {
  const search = { q: "retry", channel: "a,-b", agent: "-c", state: "done", has: "link", after: "2026-11-01", before: "2026-12-01" };
  const typed = chipsOf(search).map(({ filter, value }) => `${filter}:${value}`);
  expect(withText({}, [...typed, search.q].join(" "))).toEqual(search);
  expect(isBlank({ shown: 50 })).toBe(true);
  expect(isBlank({ has: "link" })).toBe(false);
});

test("what is being typed can be completed", () => {
  expect(partialAt("x channel:a,-#ge", 16)).toEqual({
    kind: "value",
    filter: "channel",
    text: "ge",
    isOut: true,
    start: 2,
    before: "channel:a,",
  });
  expect(partialAt("-from:@sc", 9)).toMatchObject({ filter: "agent", text: "sc", isOut: true, start: 0, before: "-from:" });
  expect(partialAt("after:2026", 10)).toMatchObject({ kind: "value", filter: "after", text: "2026" });
  expect(partialAt("find cha", 8)).toEqual({ kind: "operator", text: "cha", isOut: false, start: 5 });
  expect(partialAt("foo:ba", 6)).toBeNull();
  expect(partialAt("a ", 2)).toBeNull();
});
