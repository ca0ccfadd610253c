// @vitest-environment jsdom

import { expect, test } from "vitest";

import { bytes } from "./bytes";
import { deviceOf } from "./device";

test("browsers are told by their names", () => {
  const table: Array<[string | null, string]> = [
    ["Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36", "Chrome on Linux"],
    ["Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0", "Edge on Windows"],
    ["Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1", "Safari on iPhone"],
    ["Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0", "Firefox on Android"],
    ["curl/8.9", "curl/8.9"],
    [null, "Unknown client"],
  ];
  for (const [agent, words] of table) expect(deviceOf(agent)).toBe(words);
});

test("sizes are readable", () => {
  expect([0, 999, 1500, 123_456, 12_400_000].map(bytes)).toEqual(["0 bytes", "999 bytes", "1.5 kB", "123 kB", "12.4 MB"]);
});
