import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { KnownProgram } from "../../api/programs";
import { meQuery } from "../../api/queries";
import { Choice } from "../../ui/Choice";
import { CommandLine } from "../../ui/CommandLine";
import { keyCommand, keyWords } from "./programWords";
import { cardOf } from "./programs";

interface ProgramNeedsProps {
  agent: string;
  known: KnownProgram;
  variables: readonly string[];
  /** Where the hub has its data, if the person may know it. */
  data: string | null | undefined;
}

/** What is missing on the server for the chosen card, and how to add it. Nothing if nothing is missing. */
export function ProgramNeeds({ agent, known, variables, data }: ProgramNeedsProps) {
  const { label, install } = cardOf(known.adapter);
  const isKeyMissing = keyWords(known, variables).look === "missing";
  if (known.found !== false && !isKeyMissing) return null;
  return (
    <section aria-label={`What ${label} still needs`} className="flex min-w-0 flex-col gap-4 rounded-md border border-line bg-panel p-3">
      {known.found === false && install ? (
        <div className="flex min-w-0 flex-col gap-1">
          <p className="font-medium">{label} is not installed on the server.</p>
          <CommandLine does="Install it there with:" command={install} />
          <p className="text-sm text-muted">If it is installed, its folder must be in STOA_RUN_PATH.</p>
        </div>
      ) : null}
      {isKeyMissing ? <MissingKey agent={agent} known={known} data={data} /> : null}
      <p className="text-sm text-muted">This page notices by itself when it is done.</p>
    </section>
  );
}

/** Secrets come from the operator only, so the page has the command and no field. */
function MissingKey({ agent, known, data }: Omit<ProgramNeedsProps, "variables">) {
  const me = useQuery(meQuery).data?.user.username;
  const [isForAll, setForAll] = useState(false);
  const { label, keyFrom } = cardOf(known.adapter);
  const name = known.key_names[0]!;
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <p className="font-medium">
        {label} needs a key. Create one at {keyFrom}, then store it as {name}.
      </p>
      <Choice
        label="Who uses the key"
        value={isForAll ? "all" : "one"}
        onChange={(value) => setForAll(value === "all")}
        options={[
          { value: "one", label: `Only @${agent}` },
          { value: "all", label: "All my agents" },
        ]}
      />
      <CommandLine
        does="Run this on the server, or send it to the operator. It asks for the key:"
        command={keyCommand(name, isForAll && me ? `user:${me}` : `agent:${agent}`, data)}
      />
      <p className="text-sm text-muted">Stoa stores the key encrypted and never shows it again.</p>
    </div>
  );
}
