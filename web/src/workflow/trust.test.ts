import { expect, test } from "vitest";

import type { Trust } from "../api/trust";
import type { Channel, Message } from "../api/types";
import { actionTypeOf, effectOf, thresholdsOf } from "./trust";

const message = (metadata: object) => ({ metadata }) as unknown as Message;

test("the kind of work is what the message says, as far as the hub takes it", () => {
  expect(actionTypeOf(message({ action_type: "operate" }))).toBe("operate");
  for (const metadata of [{}, { action_type: "operate", action_type_by: "tomas" }, { action_type: "No Good" }, { action_type: 3 }]) expect(actionTypeOf(message(metadata))).toBe("publish");
});

test("approving adds 0.05 and rejecting takes 0.1, within 0 and 1", () => {
  const trust = [{ action_type: "publish", score: 0.7 }, { action_type: "operate", score: 0.98 }] as Trust[];
  expect(effectOf(message({}), trust)).toEqual({ kind: "publish", now: 0.7, approved: 0.75, rejected: 0.6 });
  expect(effectOf(message({ action_type: "operate" }), trust).approved).toBe(1);
  expect(effectOf(message({ action_type: "new" }), trust)).toEqual({ kind: "new", now: 0, approved: 0.05, rejected: 0 });
});

test("channels that ask for the same are one mark", () => {
  const channel = (name: string, approve_threshold: number, workflow_enabled = true) =>
    ({ name, approve_threshold, publish_threshold: 0.8, workflow_enabled }) as Channel;
  const channels = [channel("a", 0.6), channel("b", 0.5), channel("c", 0.6), channel("d", 0.1, false)];
  expect(thresholdsOf("operate", channels)).toEqual([{ at: 0.5, channels: ["b"] }, { at: 0.6, channels: ["a", "c"] }]);
  expect(thresholdsOf("publish", channels)).toEqual([{ at: 0.8, channels: ["a", "b", "c"] }]);
});
