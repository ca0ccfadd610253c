import { expect, test } from "vitest";

const MOST_LINES = 150;

const components = import.meta.glob<string>(["./**/*.tsx", "!./**/*.test.tsx"], { query: "?raw", import: "default", eager: true });
const live = import.meta.glob<string>("./live/*.ts", { query: "?raw", import: "default", eager: true });

test(`a component file has at most ${MOST_LINES} lines`, () => {
  const lines = (text: string) => text.trimEnd().split("\n").length;
  const tooLong = Object.entries(components).filter(([, text]) => lines(text) > MOST_LINES);
  expect(Object.keys(components)).not.toHaveLength(0);
  // Split a longer file by subject: hooks and smaller components, each in a file of its own.
  expect(tooLong.map(([path, text]) => `${path}: ${lines(text)}`)).toEqual([]);
});

test("live/ imports no feature", () => {
  const imported = Object.values(live).flatMap((text) => [...text.matchAll(/from "(\.[^"]+)"/g)].map((match) => match[1]!));
  expect(imported).not.toHaveLength(0);
  expect(imported.filter((path) => !/^(\.\/|\.\.\/api\/events$|\.\.\/lib\/)/.test(path))).toEqual([]);
});
