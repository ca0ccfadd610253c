import { describe, expect, it } from "vitest";

import type { Delivery } from "../api/runs";
import type { Me, Message } from "../api/types";
import { isForOwnAgent } from "../messages/asked";
import { isAskedAbout, ownDeliveries } from "./shownDelivery";

const me = {
  user: { username: "mira" },
  agents: [
    { name: "scribe", trigger_mode: "reactive" },
    { name: "reader", trigger_mode: "passive" },
  ],
} as Me;
const message = (more: Partial<Message>) =>
  ({ from: { name: "mira" }, mentions: [], created_at: "2026-01-01T00:00:00Z", status: "pending", workflow_state: "proposed", ...more }) as Message;
const NOW = Date.parse("2026-01-01T12:00:00Z");
const LATER = Date.parse("2026-01-09T00:00:00Z");

describe("messages to one's own agents", () => {
  it("are those that the person wrote to an agent that messages start", () => {
    expect(isForOwnAgent(message({ to: "scribe" }), me)).toBe(true);
    expect(isForOwnAgent(message({ mentions: ["tomas", "scribe"] }), me)).toBe(true);
    expect(isForOwnAgent(message({ to: "reader" }), me)).toBe(false);
    expect(isForOwnAgent(message({ to: "tomas" }), me)).toBe(false);
    expect(isForOwnAgent(message({ to: "scribe", from: { name: "tomas" } as Message["from"] }), me)).toBe(false);
    expect(isForOwnAgent(message({ to: "scribe", deleted_at: "2026-01-01T00:00:00Z" }), me)).toBe(false);
    expect(isForOwnAgent(message({ to: "scribe" }), undefined)).toBe(false);
  });

  it("are asked about while they are new or open", () => {
    expect(isAskedAbout(message({ workflow_state: "done" }), NOW)).toBe(true);
    expect(isAskedAbout(message({ workflow_state: "done" }), LATER)).toBe(false);
    expect(isAskedAbout(message({ status: "failed" }), LATER)).toBe(false);
    expect(isAskedAbout(message({}), LATER)).toBe(true);
  });

  it("show what their own agents do, where there is something to say", () => {
    const item = (more: Partial<Delivery>): Delivery => ({ recipient: "scribe", state: "woken", run_id: 1, ...more });
    const shown = ownDeliveries(
      [item({}), item({ recipient: "other" }), item({ state: "stored" }), item({ state: "not_woken", reason: "passive" }), item({ state: "not_woken", reason: "paused" })],
      me,
    );
    expect(shown.map(({ reason }) => reason)).toEqual([undefined, "paused"]);
  });
});
