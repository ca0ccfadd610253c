// @vitest-environment jsdom

import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { draftFiles, filesOf } from "./drafts";
import { addFiles, removeFile, retryFile, unsentWords } from "./upload";

/** A request that answers when the test says so. */
class Request {
  static all: Request[] = [];
  status = 0;
  responseText = "";
  responseType = "";
  headers: Record<string, string> = {};
  isAborted = false;
  upload: { onprogress?: (event: { loaded: number; total: number; lengthComputable: boolean }) => void } = {};
  onload?: () => void;
  onerror?: () => void;
  open() {
    Request.all.push(this);
  }
  setRequestHeader(name: string, value: string) {
    this.headers[name] = value;
  }
  send() {}
  abort() {
    this.isAborted = true;
  }
  answer(status: number, body: object) {
    this.status = status;
    this.responseText = JSON.stringify(body);
    this.onload?.();
  }
}

const DRAFT = "stoa.draft.channel:general";
const file = (name: string, size = 3) => Object.defineProperty(new File(["abc"], name), "size", { value: size });
const kept = (sum: string, filename = `${sum}.txt`) => ({ sha256: sum, size: 3, mime_type: "text/plain", filename });

beforeEach(() => {
  Request.all = [];
  vi.stubGlobal("XMLHttpRequest", Request);
});
afterEach(() => {
  for (const { key } of filesOf(DRAFT)) removeFile(DRAFT, key);
  draftFiles.set({});
  localStorage.clear();
  vi.unstubAllGlobals();
});

test("three go at a time, and each says how far it is", () => {
  addFiles(DRAFT, ["a", "b", "c", "d", "e"].map((name) => file(name)));
  expect(Request.all).toHaveLength(3);
  Request.all[0]!.upload.onprogress?.({ loaded: 1, total: 4, lengthComputable: true });
  expect(filesOf(DRAFT)[0]).toMatchObject({ name: "a", part: 0.25, attachment: null });
  Request.all[0]!.answer(201, kept("a"));
  expect(Request.all).toHaveLength(4);
  expect(filesOf(DRAFT)[0]).toMatchObject({ part: 1, attachment: { sha256: "a" } });
});

test("a refusal says why and stays, and the rest goes on", () => {
  addFiles(DRAFT, [file("a.zip"), file("b.txt")]);
  Request.all[0]!.answer(422, { code: "type_not_allowed", detail: "Only images.", hint: "What counts is the content." });
  Request.all[1]!.answer(201, kept("b"));
  expect(filesOf(DRAFT).map(({ error, canRetry }) => ({ error, canRetry }))).toEqual([
    { error: "Only images. What counts is the content.", canRetry: false },
    { error: null, canRetry: false },
  ]);
});

test("what may pass can be tried again, and the hub knows it is the same", () => {
  addFiles(DRAFT, [file("a")]);
  Request.all[0]!.onerror?.();
  const [failed] = filesOf(DRAFT);
  expect(failed).toMatchObject({ canRetry: true });
  retryFile(DRAFT, failed!.key);
  expect(Request.all).toHaveLength(2);
  expect(Request.all[1]!.headers["Idempotency-Key"]).toBe(Request.all[0]!.headers["Idempotency-Key"]);
  Request.all[1]!.answer(201, kept("a"));
  expect(filesOf(DRAFT)[0]).toMatchObject({ error: null, attachment: { sha256: "a" } });
});

test("one that is taken away is stopped, and makes room for the next", () => {
  addFiles(DRAFT, ["a", "b", "c", "d"].map((name) => file(name)));
  removeFile(DRAFT, filesOf(DRAFT)[1]!.key);
  expect(Request.all[1]!.isAborted).toBe(true);
  expect(Request.all).toHaveLength(4);
  expect(filesOf(DRAFT).map(({ name }) => name)).toEqual(["a", "c", "d"]);
});

test("the same content goes with a message once", () => {
  addFiles(DRAFT, [file("a"), file("copy of a")]);
  Request.all[0]!.answer(201, kept("a"));
  Request.all[1]!.answer(201, kept("a", "copy of a"));
  expect(filesOf(DRAFT)).toMatchObject([{ name: "copy of a", attachment: { filename: "copy of a" } }]);
});

test("what the hub would not take is not uploaded: too long ones, more than ten, folders", () => {
  addFiles(DRAFT, [file("long", 50 * 1024 * 1024 + 1), ...Array.from({ length: 11 }, (_, at) => file(`${at}`))], ["folder"]);
  const refused = filesOf(DRAFT).filter(({ error }) => error !== null);
  expect(refused.map(({ name }) => name)).toEqual(["long", "10", "folder"]);
  expect(Request.all).toHaveLength(3);
});

test("which files have to be attached again", () => {
  expect(unsentWords(["a.txt"])).toBe("a.txt was not sent. Attach it again.");
  expect(unsentWords(["a.txt", "b.txt", "c.txt"])).toBe("a.txt, b.txt and c.txt were not sent. Attach them again.");
});
