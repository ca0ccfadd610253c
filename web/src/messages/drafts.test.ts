// @vitest-environment jsdom

import { afterEach, expect, test } from "vitest";

import type { Attachment } from "../api/types";
import { person } from "../lib/person";
import { load, save } from "../lib/storage";
import { draftFiles, draftKey, filesOf, setFiles } from "./drafts";
import { putBack } from "./rewrite";

afterEach(() => {
  localStorage.clear();
  sessionStorage.clear();
  draftFiles.set({});
});

const file = (sum: string): Attachment => ({ sha256: sum, size: 1, mime_type: "text/plain", filename: `${sum}.txt` });
const key = draftKey({ kind: "channel", name: "general" });

test("each place and each thread has its own draft", () => {
  expect(draftKey({ kind: "channel", name: "a" })).not.toBe(draftKey({ kind: "dm", name: "a" }));
  expect(draftKey({ kind: "channel", name: "a" }, 5)).not.toBe(draftKey({ kind: "channel", name: "a" }));
});

test("each person has their own drafts", () => {
  person.set("ada");
  const hers = draftKey({ kind: "dm", name: "bob" });
  person.set("bob");
  expect(draftKey({ kind: "dm", name: "bob" })).not.toBe(hers);
  person.set("");
});

test("uploaded files outlive a reload, others do not", () => {
  const half = { key: "k", name: "b", size: 2, part: 0.5, error: null, canRetry: false, attachment: null };
  putBack(key, "", [file("a")]);
  setFiles(key, (now) => [...now, half]);
  expect(filesOf(key).map(({ name }) => name)).toEqual(["a.txt", "b"]);
  draftFiles.set({});
  expect(filesOf(key).map(({ name }) => name)).toEqual(["a.txt"]);
  setFiles(key, () => []);
  draftFiles.set({});
  expect(filesOf(key)).toEqual([]);
  expect(localStorage.length).toBe(0);
});

test("what is put back comes before what is there, each file once", () => {
  save(key, "second");
  putBack(key, "first", [file("a"), file("b")]);
  putBack(key, "", [file("a")]);
  expect(load(key, "")).toBe("first\n\nsecond");
  expect(filesOf(key).map(({ name }) => name)).toEqual(["a.txt", "b.txt"]);
});

test("what a browser keeps may be anything", () => {
  save(`${key}.files`, { not: "a list" });
  expect(filesOf(key)).toEqual([]);
});

test("files that were on their way are known after a reload, once", () => {
  const half = { key: "k", name: "b", size: 2, part: 0.5, error: null, canRetry: false, attachment: null };
  const names = () => load<string[]>(`${key}.unsent`, [], "tab");
  setFiles(key, () => [half, { ...half, name: "too large", error: "No." }, { ...half, name: "c", error: "Later.", canRetry: true }]);
  expect(names()).toEqual(["b", "c"]);
  draftFiles.set({});
  filesOf(key);
  expect(names()).toEqual([]);
  setFiles(key, () => [half]);
  setFiles(key, () => []);
  expect(names()).toEqual([]);
});
