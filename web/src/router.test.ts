// @vitest-environment jsdom

import { expect, test } from "vitest";

import { parseSearch, stringifySearch } from "./router";

test("what somebody looks for survives the way through the address", () => {
  for (const q of ['"deploy failed"', "007", "1e3", "true", "null", "{}", "a&b=c#d +e%", "-x", "京都 🚀"]) {
    const address = stringifySearch({ q, channel: "a,-b", shown: 100 });
    expect(parseSearch(address), q).toEqual({ q, channel: "a,-b", shown: 100 });
  }
  expect(stringifySearch({ q: undefined })).toBe("");
  expect(parseSearch('?q="by hand"')).toEqual({ q: '"by hand"' });
});
