// @vitest-environment jsdom

import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
  vi.useRealTimers();
  sessionStorage.clear();
});

/** Who the hub says is logged in, and what it was sent. */
let user = "ada";
let status = 201;
let sent: string[] = [];

beforeEach(() => {
  user = "ada";
  status = 201;
  sent = [];
  vi.stubGlobal("fetch", async (request: Request | string) => {
    if (typeof request === "string") return Response.json({ user: { username: user } });
    const { body } = (await request.json()) as { body: string };
    sent.push(`${body} ${request.headers.get("Idempotency-Key")?.length}`);
    return Response.json({ id: sent.length }, { status });
  });
});

const place = (name: string) => ({ kind: "channel", name }) as const;
const client = new QueryClient();

/** Some messages that could not be sent. */
async function unsent(...bodies: string[]) {
  const { person } = await import("../lib/person");
  person.set("ada");
  const outbox = await import("./outbox");
  status = 503;
  for (const body of bodies) outbox.send(client, place("general"), { body });
  await vi.waitFor(() => expect(outbox.outgoing.get().every(({ error }) => error)).toBe(true));
  status = 201;
  sent = [];
  return { ...outbox, ...(await import("./resend")), person };
}

test("what could not be sent goes in its order, each once", async () => {
  const { outgoing, resend } = await unsent("one", "two");
  await Promise.all([resend(client), resend(client)]);
  expect(sent).toEqual(["one 32", "two 32"]);
  expect(outgoing.get()).toEqual([]);
});

test("nothing is sent as somebody else", async () => {
  const { outgoing, resend } = await unsent("one");
  user = "bob";
  await resend(client);
  expect([sent, outgoing.get().length]).toEqual([[], 1]);
});

test("what fails holds up what was written after it", async () => {
  const { outgoing, resend } = await unsent("one", "two");
  status = 503;
  await resend(client);
  expect([sent, outgoing.get().length]).toEqual([["one 32"], 2]);
});

test("what the hub refused is not repeated by itself", async () => {
  const { outgoing, resend, retry } = await unsent("one", "two");
  status = 422;
  retry(client, place("general"), outgoing.get()[0]!);
  await vi.waitFor(() => expect(outgoing.get()[0]?.isRefused).toBe(true));
  status = 201;
  sent = [];
  await resend(client);
  expect(sent).toEqual(["two 32"]);
  expect(outgoing.get().map(({ request }) => request.body)).toEqual(["one"]);
});

test("what is older than an hour waits for the person", async () => {
  const { change, outgoing, resend, retry } = await unsent("one", "two");
  change(outgoing.get()[0]!.key, { at: new Date(Date.now() - 3_700_000).toISOString() });
  await resend(client);
  await resend(client);
  expect(sent).toEqual(["two 32"]);
  expect(outgoing.get()).toMatchObject([{ isOld: true }]);
  retry(client, place("general"), outgoing.get()[0]!);
  await vi.waitFor(() => expect(outgoing.get()).toEqual([]));
});
