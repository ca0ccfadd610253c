import { expect, test } from "vitest";

import type { Trace } from "../../api/traces";
import { exportLink, filterOf, neighbour } from "./filter";
import { traceSearch } from "./search";

const trace = (id: number, second: number) => ({ id, created_at: `2026-11-14T09:00:0${second}.000Z` }) as Trace;

test("the address is read with care", () => {
  expect(traceSearch({ agent: 42, action: "", since: "yesterday", until: "2026-11-14", offset: "50", peek: -1 })).toEqual({
    agent: "42",
    action: undefined,
    since: undefined,
    until: "2026-11-14",
    offset: 50,
    peek: undefined,
  });
});

test("the export has the filter of the list, and not its page", () => {
  const filter = filterOf({ agent: "a b", action: undefined, offset: 50, peek: 7 });
  expect(filter).toEqual({ agent: "a b" });
  expect(exportLink(filter, "csv")).toBe("/api/traces/export?format=csv&agent=a+b");
});

test("the neighbour is found by its place, even where the page has moved", () => {
  const page = [trace(9, 5), trace(8, 5), trace(7, 4), trace(6, 3)];
  expect(neighbour(page, trace(8, 5), 1)?.id).toBe(7);
  expect(neighbour(page, trace(8, 5), -1)?.id).toBe(9);
  // The one that was open is on the page before by now, and so is one that was seen already.
  expect(neighbour(page, trace(7, 4), 1)?.id).toBe(6);
  expect(neighbour(page, trace(6, 3), 1)).toBeUndefined();
  expect(neighbour(page, trace(9, 5), -1)).toBeUndefined();
});
