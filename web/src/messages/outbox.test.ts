// @vitest-environment jsdom

import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

// Before each: other files share this process, and may leave something behind in the modules.
beforeEach(() => {
  vi.resetModules();
  sessionStorage.clear();
});

afterEach(() => vi.unstubAllGlobals());

const place = { kind: "channel", name: "general" } as const;

test("what a tab had not sent is there again after a reload, and goes with the same key", async () => {
  vi.stubGlobal("fetch", () => new Promise(() => undefined));
  const before = await import("./outbox");
  before.send(new QueryClient(), place, { body: "hello" });
  const { key } = before.outgoing.get()[0]!;

  vi.resetModules();
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    asked.push(request.headers.get("Idempotency-Key") ?? "");
    return Response.json({ id: 1 }, { status: 201 });
  });
  const after = await import("./outbox");
  const [kept] = after.outgoing.get();
  expect(kept).toMatchObject({ key, request: { body: "hello", channel: "general" } });
  expect(kept?.error).not.toBeNull();
  after.retry(new QueryClient(), place, kept!);
  await vi.waitFor(() => expect(after.outgoing.get()).toEqual([]));
  expect(asked).toEqual([key]);
  expect(sessionStorage.getItem(after.outgoingKey())).toBeNull();
});

test("a storage with anything else in it does no harm", async () => {
  sessionStorage.setItem("stoa.outgoing.", "{\"not\": \"a list\"}");
  expect((await import("./outbox")).outgoing.get()).toEqual([]);
});

test("what one person had not sent is not what the next one sees", async () => {
  vi.stubGlobal("fetch", () => new Promise(() => undefined));
  const { person } = await import("../lib/person");
  const { outgoing, send } = await import("./outbox");
  person.set("ada");
  send(new QueryClient(), place, { body: "of ada" });
  person.set("bob");
  expect(outgoing.get()).toEqual([]);
  send(new QueryClient(), place, { body: "of bob" });
  person.set("ada");
  expect(outgoing.get().map(({ request }) => request.body)).toEqual(["of ada"]);
});

test("messages of a conversation are sent in the order in which they were written", async () => {
  const answers: Array<(answer: Response) => void> = [];
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    asked.push(((await request.json()) as { body: string }).body);
    return new Promise<Response>((resolve) => answers.push(resolve));
  });
  const { outgoing, send } = await import("./outbox");
  const client = new QueryClient();
  for (const body of ["first", "second", "third"]) send(client, place, { body });
  send(client, { kind: "channel", name: "other" }, { body: "elsewhere" });
  await vi.waitFor(() => expect(asked).toEqual(["first", "elsewhere"]));
  answers[0]!(Response.json({ code: "unavailable", detail: "Not now." }, { status: 503 }));
  await vi.waitFor(() => expect(outgoing.get().find(({ request }) => request.body === "third")?.error).toBe("Waits for the message before it."));
  expect(asked).toEqual(["first", "elsewhere"]);
});

test("a refused message says why after a reload, too", async () => {
  const one = { key: "a", place: "channel:general", replyTo: null, request: { body: "x" }, at: "2026-01-01T00:00:00Z", error: "You are not a member.", isRefused: true };
  sessionStorage.setItem("stoa.outgoing.", JSON.stringify([one, { ...one, key: "b", isRefused: false }]));
  expect((await import("./outbox")).outgoing.get().map(({ error }) => error)).toEqual(["You are not a member.", "Not sent: you left the page."]);
});
