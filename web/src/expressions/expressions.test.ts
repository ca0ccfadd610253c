import ts from "typescript";
import { afterEach, expect, test, vi } from "vitest";

import { hostileTextFor } from "./growth";

const sources = import.meta.glob<string>(["../**/*.ts", "../**/*.tsx", "!../**/*.test.*", "!../**/*.d.ts", "!../expressions/*"], {
  query: "?raw",
  import: "default",
  eager: true,
});

interface Expression {
  source: string;
  flags: string;
}

/** The expressions that are written in a file. */
function expressionsIn(path: string, text: string): Expression[] {
  const found: Expression[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf("/");
      found.push({ source: node.text.slice(1, end), flags: node.text.slice(end + 1) });
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, path.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS));
  return found;
}

afterEach(() => vi.unstubAllGlobals());

test("the checker finds expressions that are quadratic or worse, and no others", () => {
  for (const source of ["\\s+$", "^(?:a+)+$", "(?:a|a)*b", "^\\s*([\\w]{0,20})\\s*$", "-+$", "a+.*b", "\\[[^\\]]*\\]\\([^)]*\\)"]) {
    expect(hostileTextFor(source, "g"), source).toBeDefined();
  }
  for (const source of ["\\s+", "^[a-z]+$", "(?<!-)-+$", "\\[[^[\\]]*\\]\\([^()]*\\)", "a{1,5}b", "(?<!`)(`+)x\\1"]) {
    expect(hostileTextFor(source, "g"), source).toBeUndefined();
  }
});

const written = Object.entries(sources).flatMap(([path, text]) => expressionsIn(path, text).map((one) => ({ ...one, path })));

test("no expression takes more than in proportion to the length of a text", () => {
  expect(written.length).toBeGreaterThan(80);
  const slow = written.flatMap(({ path, source, flags }) => {
    const text = hostileTextFor(source, flags);
    return text ? [`${path}: /${source}/${flags} for ${text}`] : [];
  });
  // Rewrite it so that each part stops where the next one may begin, so that it begins only once in a run.
  expect(slow).toEqual([]);
});

test("those that are put together are not slow, either", async () => {
  const made: Expression[] = [];
  const Original = RegExp;
  vi.stubGlobal(
    "RegExp",
    new Proxy(Original, {
      construct(target, [source, flags]: [string | RegExp, string | undefined]) {
        if (typeof source === "string") made.push({ source, flags: flags ?? "" });
        return new target(source, flags);
      },
    }),
  );
  vi.resetModules();
  await import("../lib/hidden");
  const own = made.splice(0);
  await import("../messages/markdown");
  own.push(...made.filter(({ source }) => source.includes("#([a-z0-9]")));
  vi.unstubAllGlobals();
  const places = Object.values(sources).flatMap((text) => text.match(/new RegExp\(/g) ?? []);
  expect(own.length).toBe(places.length);
  expect(own.flatMap(({ source, flags }) => hostileTextFor(source, flags) ?? [])).toEqual([]);
});
