import type { Agent } from "../../api/types";

/** What the hub can start for an agent. `generic` is a command of the owner's own. */
export type Program = NonNullable<NonNullable<Agent["harness"]>["adapter"]>;

/** Limits and habits that something has. The others would do nothing. */
export interface Settings {
  turns: boolean;
  cost: boolean;
  resume: boolean;
}

export interface Card extends Settings {
  program: Program;
  label: string;
  about: string;
  /** How it is installed on the server; none for what the hub does not know. */
  install: string | null;
  /** Where its key comes from. */
  keyFrom: string | null;
}

/** In the order of the page. Another way to run agents is one more entry. */
export const CARDS: readonly Card[] = [
  {
    ...{ program: "claude-code", label: "Claude Code", about: "Uses your Anthropic key" },
    ...{ install: "npm install -g @anthropic-ai/claude-code", keyFrom: "platform.claude.com" },
    ...{ turns: true, cost: true, resume: true },
  },
  {
    ...{ program: "codex", label: "Codex", about: "Uses your OpenAI key" },
    ...{ install: "npm install -g @openai/codex", keyFrom: "platform.openai.com" },
    ...{ turns: false, cost: false, resume: true },
  },
  {
    ...{ program: "gemini", label: "Gemini CLI", about: "Uses your Google key" },
    ...{ install: "npm install -g @google/gemini-cli", keyFrom: "aistudio.google.com" },
    ...{ turns: true, cost: false, resume: false },
  },
  {
    ...{ program: "generic", label: "Own command", about: "Any executable on the server" },
    ...{ install: null, keyFrom: null },
    ...{ turns: false, cost: false, resume: false },
  },
];

export const cardOf = (program: Program): Card => CARDS.find((card) => card.program === program) ?? CARDS.at(-1)!;

/** A harness that names nothing known is a command of the owner's own. */
export const programOf = (adapter: Program | null | undefined): Program => (adapter ? cardOf(adapter).program : "generic");

export const settingsOf = (program: Program | null): Settings => (program === null ? { turns: false, cost: false, resume: false } : cardOf(program));
