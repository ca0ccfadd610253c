import { expect, test } from "vitest";

import { programOf } from "./program";

const words = (trigger_mode: string, command?: unknown) => programOf({ trigger_mode, harness: command === undefined ? null : { command } } as unknown as Parameters<typeof programOf>[0]);

test("an agent is named by the program that it runs with", () => {
  expect(words("passive", ["claude"])).toBe("Checks its inbox through its client");
  expect(words("reactive", ["/usr/bin/claude", "-p"])).toBe("Runs with Claude Code");
  expect(words("reactive", ["/home/mira/my agent.sh"])).toBe("Runs with my agent.sh");
  expect(words("reactive", [])).toBe("Has no command yet");
  expect(words("reactive")).toBe("Has no command yet");
});
