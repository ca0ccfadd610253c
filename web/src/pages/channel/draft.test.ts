import { expect, test } from "vitest";

import type { Channel } from "../../api/types";
import { ABOUT, WORKFLOW, bodyOf, changed, durationFault, formOf, thresholdFault } from "./draft";

const form = formOf({
  topic: "t",
  description: "",
  public: true,
  workflow_enabled: false,
  auto_approve: false,
  stalemate_remind_after: "24h",
  stalemate_escalate_after: "72h",
  approve_threshold: 0.6,
  publish_threshold: 0.8,
} as Channel);

test("only what was changed is sent, as the hub wants it", () => {
  const next = { ...form, topic: "u", approve_threshold: "0.75", auto_approve: true };
  expect(changed(form, next, ABOUT)).toEqual(["topic"]);
  expect(bodyOf(next, changed(form, next, WORKFLOW))).toEqual({ auto_approve: true, approve_threshold: 0.75 });
});

test("durations are those that the hub takes", () => {
  for (const good of ["0", "1m", "24h", "365d", "8760h"]) expect(durationFault(good), good).toBeUndefined();
  for (const bad of ["", "m", "0m", "1", "1s", "-1h", "1.5h", "366d", "9999999m", "01h", "1 h"]) expect(durationFault(bad), bad).toBeDefined();
});

test("thresholds lie between 0 and 1", () => {
  for (const good of ["0", "1", "0.65", ".5"]) expect(thresholdFault(good), good).toBeUndefined();
  for (const bad of ["", " ", "-0.1", "1.01", "x"]) expect(thresholdFault(bad), bad).toBeDefined();
});
