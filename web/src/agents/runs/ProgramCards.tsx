import { CircleAlert, CircleCheck, Code, Gem, Sparkles, Terminal, Webhook } from "lucide-react";
import { type ReactNode, useId } from "react";

import type { Finding } from "./programWords";
import { foundWords, keyWords } from "./programWords";
import { CARDS, type Program } from "./programs";
import type { Programs } from "./usePrograms";

const ICONS: Record<Program, ReactNode> = {
  "claude-code": <Sparkles size={16} />,
  codex: <Code size={16} />,
  gemini: <Gem size={16} />,
  generic: <Terminal size={16} />,
  webhook: <Webhook size={16} />,
};

interface ProgramCardsProps {
  value: Program | null;
  programs: Programs;
  /** Names of environment variables that the agent has. */
  variables: readonly string[];
  onChange: (program: Program) => void;
}

/** What a message starts: one card for each way, with what is there for it and what is missing. */
export function ProgramCards({ value, programs, variables, onChange }: ProgramCardsProps) {
  const id = useId();
  const isAllowed = !programs.list?.reason;
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 font-medium">What runs</legend>
      <div className="grid gap-2 sm:grid-cols-2">
        {CARDS.map(({ program, label, about }) => {
          const known = programs.find(program);
          return (
            <label
              key={program}
              className="flex min-w-0 cursor-pointer items-start gap-2.5 rounded-lg border border-line p-3 hover:bg-panel has-checked:border-accent has-checked:bg-selected"
            >
              <input
                type="radio"
                name={id}
                value={program}
                aria-label={label}
                aria-describedby={`${id}-${program}`}
                checked={value === program}
                onChange={() => onChange(program)}
                className="mt-1 shrink-0"
              />
              <span className="flex min-w-0 flex-col gap-0.5">
                <span className="flex items-center gap-1.5 font-semibold">
                  <span aria-hidden="true" className="text-muted">
                    {ICONS[program]}
                  </span>
                  {label}
                </span>
                <span id={`${id}-${program}`} className="flex flex-col gap-0.5 text-sm">
                  <span className="text-muted">{about}</span>
                  {known && isAllowed ? (
                    <>
                      <FindingLine finding={foundWords(known)} />
                      <FindingLine finding={keyWords(known, variables)} />
                    </>
                  ) : null}
                </span>
              </span>
            </label>
          );
        })}
      </div>
    </fieldset>
  );
}

export function FindingLine({ finding: { text, look } }: { finding: Finding }) {
  const colour = look === "good" ? "text-approved" : look === "missing" ? "text-amber" : "text-muted";
  return (
    <span className={`flex items-start gap-1.5 ${colour}`}>
      <span aria-hidden="true" className="mt-0.5 shrink-0">
        {look === "good" ? <CircleCheck size={14} /> : <CircleAlert size={14} />}
      </span>
      <span className="min-w-0 [overflow-wrap:anywhere]">{text}</span>
    </span>
  );
}
