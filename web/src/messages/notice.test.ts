import { expect, test } from "vitest";

import type { Message } from "../api/types";
import { lapsedIn, runIn, webhookAgentIn } from "./notice";

const notice = (kind: string, lapsed_approval: unknown) => ({ from: { kind, name: "x" }, metadata: { lapsed_approval } }) as unknown as Message;

test("a notice of the hub names the message that was edited", () => {
  expect(lapsedIn(notice("system", { message_id: 7, channel: "work", revision: 1 }))).toEqual({ message_id: 7, channel: "work" });
  expect(lapsedIn(notice("system", { message_id: 7, channel: null, revision: 1 }))).toEqual({ message_id: 7, channel: null });
});

test("a notice of the hub names the agent whose webhook it is about", () => {
  const about = (kind: string, webhook: unknown) => webhookAgentIn({ from: { kind, name: "x" }, metadata: { webhook } } as unknown as Message);
  expect(about("system", { id: 3, agent: "lookout" })).toBe("lookout");
  expect(about("agent", { id: 3, agent: "lookout" })).toBeUndefined();
  for (const told of [undefined, null, "lookout", { id: 3 }, { agent: 3 }]) expect(about("system", told)).toBeUndefined();
});

test("a notice of the hub names the run that it is about", () => {
  const about = (kind: string, run: unknown) => runIn({ from: { kind, name: "x" }, metadata: { run } } as unknown as Message);
  expect(about("system", { id: 3, agent: "porter" })).toBe(3);
  expect(about("agent", { id: 3 })).toBeUndefined();
  for (const told of [undefined, null, 3, {}, { id: "3" }]) expect(about("system", told)).toBeUndefined();
});

test("what others send as such a notice counts as nothing", () => {
  for (const kind of ["user", "agent", "machine"]) expect(lapsedIn(notice(kind, { message_id: 7, channel: "work" }))).toBeUndefined();
  for (const told of [undefined, null, 7, {}, { message_id: "7" }]) expect(lapsedIn(notice("system", told))).toBeUndefined();
});
