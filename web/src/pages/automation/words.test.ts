import { expect, test } from "vitest";

import type { Automation, AutomationItem } from "../../api/automation";
import { stateWords } from "./words";

test("one sentence says what happens and what waits", () => {
  const automation = { queued_runs: 0, running_runs: 0, items: [] as AutomationItem[] } as unknown as Automation;
  expect(stateWords(automation)).toBe("No run active.");
  const items = [{ waiting: 2 }, { waiting: 1 }] as AutomationItem[];
  expect(stateWords({ ...automation, running_runs: 1, queued_runs: 2, items })).toBe("1 run active, 2 runs queued, 3 messages and deliveries pending.");
});
