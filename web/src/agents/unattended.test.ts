import { expect, test } from "vitest";

import documentation from "../../../docs/mcp.md?raw";
import { UNATTENDED } from "./unattended";

const NEEDED = {
  "claude-code": ["--allowedTools mcp__stoa", '"alwaysLoad": true'],
  codex: ["required = true", 'default_tools_approval_mode = "approve"'],
  gemini: ['"trust": true', "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_CLI_NO_RELAUNCH=true", "TMPDIR="],
} as const;

test("the page and the documentation name the same additions for unattended runs", () => {
  expect(Object.keys(UNATTENDED)).toEqual(Object.keys(NEEDED));
  for (const [client, needed] of Object.entries(NEEDED)) {
    const shown = UNATTENDED[client as keyof typeof NEEDED]!.map(({ text }) => text).join("\n");
    for (const one of needed) {
      expect(shown, client).toContain(one);
      expect(documentation, client).toContain(one);
    }
  }
});
