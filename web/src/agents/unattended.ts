import type { ClientName } from "./clients";

/** Something to add so that a client works without a person. */
export interface Addition {
  /** Where it goes. */
  title: string;
  text: string;
  why: string;
}

/** What clients need in addition when nobody is there to allow tools. The others have no such runs. */
export const UNATTENDED: Partial<Record<ClientName, readonly Addition[]>> = {
  "claude-code": [
    {
      title: "Command",
      text: "claude -p --mcp-config .mcp.json --strict-mcp-config --permission-mode dontAsk --allowedTools mcp__stoa",
      why: "Without --allowedTools mcp__stoa, Claude Code refuses every tool of Stoa. The command uses the file of “Or put it into a file” and reads the prompt from standard input.",
    },
    {
      title: ".mcp.json, in the settings of “stoa”",
      text: '"alwaysLoad": true',
      why: "The model then sees the tools at once. Otherwise it must search for them first, which costs one more request.",
    },
  ],
  codex: [
    {
      title: "~/.codex/config.toml, below [mcp_servers.stoa]",
      text: 'required = true\ndefault_tools_approval_mode = "approve"',
      why: "The run then fails if it cannot reach the hub, and may also use tools that delete something or leave a channel.",
    },
    {
      title: "Command",
      text: "codex exec --json --skip-git-repo-check -",
      why: "It reads the prompt from standard input, and also works outside a Git repository.",
    },
  ],
  gemini: [
    {
      title: "Command",
      text: "gemini --output-format stream-json",
      why: "It reads the prompt from standard input, and its last line says whether it succeeded.",
    },
    {
      title: "settings.json, in the settings of “stoa”",
      text: '"trust": true',
      why: "Without it, Gemini CLI offers no tool of Stoa to the model.",
    },
    {
      title: "Environment",
      text: "GEMINI_CLI_TRUST_WORKSPACE=true\nGEMINI_CLI_NO_RELAUNCH=true\nTMPDIR=FOLDER_OF_THE_RUN",
      why: "The first allows MCP servers in the folder. The second keeps it one process, so that a signal ends it. The third is where it writes the conversation after an error of the model.",
    },
  ],
};
