import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { type CommandSettings, type KnownProgram, commandQuery } from "../../api/programs";
import { CopyField } from "../../ui/CopyField";
import { joinWords, splitWords } from "./commandLine";
import type { RunForm } from "./form";
import { settingsOf } from "./programs";

const MOST_TURNS = 1000;

/** The settings of the form that the hub turns into words of the command. What cannot be read is left out. */
function commandSettings(form: RunForm): CommandSettings {
  const can = settingsOf(form.adapter);
  const [turns, cost] = [Number(form.turns), Number(form.runCost)];
  return {
    ...(form.model.trim() ? { model: form.model.trim() } : {}),
    ...(form.tools === "hub" ? {} : { tools: form.tools }),
    ...(can.turns && Number.isInteger(turns) && turns > 0 && turns <= MOST_TURNS ? { max_turns: turns } : {}),
    ...(can.cost && cost > 0 ? { max_cost_usd: cost } : {}),
  };
}

/** What the hub will run with these settings. */
export function ShowCommand({ agent, known, form }: { agent: string; known: KnownProgram; form: RunForm }) {
  const [isOpen, setOpen] = useState(false);
  const list = useQuery({ ...commandQuery(agent, commandSettings(form)), enabled: isOpen }).data;
  const { arguments: added, files } = list?.items.find(({ adapter }) => adapter === known.adapter) ?? known;
  const { words = [] } = splitWords(form.command);
  const line = joinWords([...(words.length ? words : [known.command]), ...added]);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="cursor-pointer py-1 text-accent pointer-coarse:py-3">Show command</summary>
      <div className="mt-2 flex min-w-0 flex-col gap-2">
        <CopyField title="What Stoa runs" text={line} />
        <p className="text-sm text-muted">
          The prompt comes on standard input. Before each run, Stoa writes settings into the agent's home folder: {files.join(", ")}. Keys are passed as
          environment variables and are never in the command or in a file.
        </p>
      </div>
    </details>
  );
}
