import { expect, test } from "vitest";

import { programOf } from "./program";

const words = (trigger_mode: string, command?: unknown, last_seen_at = "2026-01-01T00:00:00Z" as string | null) =>
  programOf({ trigger_mode, last_seen_at, harness: command === undefined ? null : { command } } as unknown as Parameters<typeof programOf>[0]);

test("an agent is named by the program that it runs with", () => {
  expect(words("passive", ["claude"])).toBe("Checks its inbox through its client");
  expect(words("passive", undefined, null)).toBe("No client has connected yet");
  expect(words("disabled", ["claude"])).toBe("Switched off");
  expect(words("reactive", ["/usr/bin/claude", "-p"])).toBe("Runs with Claude Code");
  expect(words("reactive", ["/home/mira/my agent.sh"])).toBe("Runs with my agent.sh");
  const known = { trigger_mode: "reactive", last_seen_at: null, harness: { backend: "subprocess", adapter: "gemini" } };
  expect(programOf(known as unknown as Parameters<typeof programOf>[0])).toBe("Runs with Gemini CLI");
  const elsewhere = { trigger_mode: "reactive", last_seen_at: null, harness: { backend: "webhook", url: "https://agents.example.com/run?key=1" } };
  expect(programOf(elsewhere as unknown as Parameters<typeof programOf>[0])).toBe("Runs at agents.example.com");
  expect(words("reactive", [])).toBe("Has no command yet");
  expect(words("reactive")).toBe("Has no command yet");
});
