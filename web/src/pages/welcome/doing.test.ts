import { expect, test } from "vitest";

import type { Message } from "../../api/types";
import { doingOf } from "./doing";

const message = (id: number, from: string, status: Message["status"] = "pending") => ({ id, from: { name: from }, status }) as Message;
const waits = { name: "scout", trigger_mode: "passive" as const, harness: null };
const starts = { name: "scout", trigger_mode: "reactive" as const, harness: { backend: "subprocess" as const, command: ["date"] } };

test("a message to an agent without a client waits for a connection", () => {
  expect(doingOf({ agent: waits, isConnected: false, messages: [message(1, "ada")], run: undefined }).sentence).toMatch(/until a client connects/);
  expect(doingOf({ agent: waits, isConnected: true, messages: [message(1, "ada")], run: undefined }).sentence).toMatch(/until its client checks it/);
});

test("an agent with a command waits for no connection", () => {
  const said = (messages: Message[], status?: "running" | "failed" | "deferred") =>
    doingOf({ agent: starts, isConnected: false, messages, run: status && { status, deferred_until: null } });
  expect(said([]).sentence).toMatch(/starts @scout's command/);
  expect(said([message(1, "ada")], "running").sentence).toMatch(/is working/);
  expect(said([message(1, "ada")], "deferred")).toEqual({
    sentence: "The provider of the model is overloaded, or a limit is used up. Starts again by itself.",
    look: "open",
  });
  expect(said([message(1, "ada")], "failed").look).toBe("fault");
  expect(said([message(1, "ada", "done"), message(2, "scout")], "running").look).toBe("done");
});

test("an agent that runs elsewhere is called", () => {
  const called = { ...starts, harness: { backend: "webhook" as const, url: "https://x.example/" } };
  expect(doingOf({ agent: called, isConnected: false, messages: [], run: undefined }).sentence).toMatch(/calls @scout's webhook/);
  const ended = { status: "succeeded" as const, deferred_until: null };
  expect(doingOf({ agent: called, isConnected: false, messages: [message(1, "ada")], run: ended }).sentence).toMatch(/answered with no text/);
});

test("a second message is open although the first has an answer", () => {
  const messages = [message(1, "ada", "done"), message(2, "scout"), message(3, "ada", "processing")];
  expect(doingOf({ agent: waits, isConnected: true, messages, run: undefined }).sentence).toMatch(/is working on your message/);
});
