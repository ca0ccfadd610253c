import type { Agent } from "../../api/types";

type Harness = NonNullable<Agent["harness"]>;

/** What a message can start: something that the hub knows, a command of the owner's own (`generic`), or an agent elsewhere (`webhook`). */
export type Program = NonNullable<Harness["adapter"]> | "webhook";

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
  {
    ...{ program: "webhook", label: "Webhook", about: "Calls an agent that runs elsewhere" },
    ...{ install: null, keyFrom: null },
    ...{ turns: false, cost: false, resume: false },
  },
];

const OWN_COMMAND = CARDS.find(({ program }) => program === "generic")!;

export const cardOf = (program: Program): Card => CARDS.find((card) => card.program === program) ?? OWN_COMMAND;

/** Nothing for an agent that has nothing to run, or a backend without a card. A command that names nothing known is the owner's own. */
export function programOf(harness: Pick<Harness, "backend" | "adapter"> | null | undefined): Program | null {
  if (harness?.backend === "webhook") return "webhook";
  if (harness?.backend !== "subprocess") return null;
  return harness.adapter ? cardOf(harness.adapter).program : "generic";
}

export const settingsOf = (program: Program | null): Settings => (program === null ? { turns: false, cost: false, resume: false } : cardOf(program));
