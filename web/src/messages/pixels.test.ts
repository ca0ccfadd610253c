import { expect, test } from "vitest";

import { MOST_PIXELS } from "./mayDraw";
import { pixelsIn } from "./pixels";

const bytes = (...parts: Array<string | number[]>) =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === "string" ? Array.from(part, (one) => one.charCodeAt(0)) : part)));

test("the pixels of a picture are read from the beginning of its file", () => {
  const png = bytes([0x89], "PNG\r\n\x1a\n", [0, 0, 0, 13], "IHDR", [0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30]);
  expect(pixelsIn(png)).toBe(900_000_000);
  expect(pixelsIn(png)! > MOST_PIXELS).toBe(true);
  expect(pixelsIn(bytes("GIF89a", [0x2c, 1, 0xc8, 0]))).toBe(60_000);
  expect(pixelsIn(bytes([0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc2, 0, 17, 8, 0, 100, 0, 50, 3]))).toBe(5000);
  expect(pixelsIn(bytes("RIFF", [0, 0, 0, 0], "WEBPVP8X", [10, 0, 0, 0, 0, 0, 0, 0, 99, 0, 0, 49, 0, 0]))).toBe(5000);
  expect(pixelsIn(bytes("RIFF", [0, 0, 0, 0], "WEBPVP8 ", [0, 0, 0, 0, 0, 0, 0, 0x9d, 1, 0x2a, 100, 0, 50, 0]))).toBe(5000);
  expect(pixelsIn(bytes("RIFF", [0, 0, 0, 0], "WEBPVP8L", [0, 0, 0, 0, 0x2f, 99, 0x40, 12, 0]))).toBe(5000);
});

test("what does not say how large it is has no size", () => {
  for (const head of [[], [0xff], [0xff, 0xd8], [0xff, 0xd8, 0, 0], [0xff, 0xd8, 0xff, 0xe0, 0xff, 0xff]]) expect(pixelsIn(bytes(head))).toBe(null);
  expect(pixelsIn(bytes([0x89], "PNG"))).toBe(null);
  expect(pixelsIn(bytes("RIFF", [0, 0, 0, 0], "WEBPICCP"))).toBe(null);
});
