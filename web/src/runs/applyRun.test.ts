import { QueryClient } from "@tanstack/react-query";
import { expect, test, vi } from "vitest";

import { applyRun } from "./applyRun";

const event = (data: Record<string, unknown>) => ({ name: "run" as const, data });

test("a step changes its row, and a new status reloads the lists", () => {
  const client = new QueryClient();
  const key = ["runs", "list", {}, 0, 50];
  client.setQueryData(key, { items: [{ id: 7, last_step: null }, { id: 8, last_step: "old" }] });
  const reloaded = vi.spyOn(client, "invalidateQueries");
  const keys = () => reloaded.mock.calls.map(([filter]) => (filter?.queryKey ?? []).join(" "));
  applyRun(client, event({ run_id: 7, status: "running", last_step: "one" }));
  expect(keys()).toEqual(["run 7", "runs", "presences"]);
  reloaded.mockClear();
  applyRun(client, event({ run_id: 7, status: "running", last_step: "two" }));
  expect(keys()).not.toContain("runs");
  expect(client.getQueryData(key)).toEqual({ items: [{ id: 7, last_step: "two" }, { id: 8, last_step: "old" }] });
});

test("a new status reloads what its message and waiting messages have started", () => {
  const client = new QueryClient();
  const item = (more: object) => [{ recipient: "scribe", state: "woken", run_id: 1, ...more }];
  client.setQueryData(["delivery", 1], item({}));
  client.setQueryData(["delivery", 2], item({ state: "deferred", run_id: undefined }));
  client.setQueryData(["delivery", 3], item({ recipient: "scout", state: "deferred" }));
  client.setQueryData(["delivery", 4], item({}));
  const reloaded = vi.spyOn(client, "invalidateQueries");
  applyRun(client, event({ run_id: 9, agent: "scribe", status: "queued", trigger_message_id: 4 }));
  const keys = reloaded.mock.calls.map(([filter]) => (filter?.queryKey ?? []).join(" "));
  expect(keys.filter((key) => key.startsWith("delivery"))).toEqual(["delivery 2", "delivery 4"]);
});
