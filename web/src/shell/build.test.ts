import { afterEach, expect, test, vi } from "vitest";

import { isGonePart } from "./ErrorBoundary";
import { askForBuild, build, buildIn } from "./build";

afterEach(() => vi.unstubAllGlobals());

test("only what looks like a build is one", () => {
  expect(buildIn("0123456789abcdef\n")).toBe("0123456789abcdef");
  for (const other of ["", "<!doctype html>", "{}", "not found"]) expect(buildIn(other), other).toBeNull();
});

test("the first answer is what runs, a later one is news, and a failure is nothing", async () => {
  const answers = ["aaaaaaaaaaaaaaaa", null, "<html>", "bbbbbbbbbbbbbbbb"];
  vi.stubGlobal("fetch", async () => {
    const text = answers.shift();
    if (text === null) throw new Error("away");
    return new Response(text);
  });
  await askForBuild();
  await askForBuild();
  await askForBuild();
  expect(build.get()).toEqual({ first: "aaaaaaaaaaaaaaaa", latest: "aaaaaaaaaaaaaaaa" });
  await askForBuild();
  expect(build.get()).toEqual({ first: "aaaaaaaaaaaaaaaa", latest: "bbbbbbbbbbbbbbbb" });
});

test("a part that is gone is told from other failures", () => {
  for (const said of [
    "Failed to fetch dynamically imported module: http://a/assets/x.js",
    "error loading dynamically imported module: http://a/assets/x.js",
    "Importing a module script failed.",
    "Unable to preload CSS for /assets/x.css",
  ]) {
    expect(isGonePart(new TypeError(said)), said).toBe(true);
  }
  expect(isGonePart(new TypeError("x is undefined"))).toBe(false);
});
