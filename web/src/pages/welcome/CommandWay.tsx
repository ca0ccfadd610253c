import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Check } from "lucide-react";
import { useMemo, useState } from "react";

import { AddressField } from "../../agents/runs/AddressField";
import { ProgramCards } from "../../agents/runs/ProgramCards";
import { ProgramNeeds } from "../../agents/runs/ProgramNeeds";
import { Isolation, NotAllowed } from "../../agents/runs/ProgramSection";
import { SigningSecret } from "../../agents/runs/SigningSecret";
import { WhatHubSends } from "../../agents/runs/WhatHubSends";
import { addressFault } from "../../agents/runs/addressFault";
import { commandRefusal } from "../../agents/runs/commandRefusal";
import { joinWords, splitWords } from "../../agents/runs/commandLine";
import { shownHarness } from "../../agents/runs/harness";
import { keyWords } from "../../agents/runs/programWords";
import { type Program, cardOf, programOf } from "../../agents/runs/programs";
import { usePrograms } from "../../agents/runs/usePrograms";
import { changeAgent } from "../../api/agents";
import { sentenceOf } from "../../api/problem";
import type { Agent } from "../../api/types";
import { Button } from "../../ui/Button";
import { Refusal } from "../../ui/Field";
import { TextField, fieldError } from "../../ui/TextField";
import { useFocusFault } from "../../ui/useFocusFault";
import { harnessFor, hasCommand } from "./ways";

/** Sets what messages to the agent start: something that the hub knows, a command of the person's own, or an agent elsewhere. */
export function CommandWay({ agent }: { agent: Agent }) {
  const client = useQueryClient();
  const harness = shownHarness(agent);
  const savedProgram = programOf(harness);
  const savedCommand = joinWords(harness?.command ?? []);
  const [program, setProgram] = useState<Program | null>(savedProgram);
  const [command, setCommand] = useState(savedProgram === "generic" ? savedCommand : "");
  const [url, setUrl] = useState(harness?.url ?? "");
  const programs = usePrograms(agent.name, program);
  const known = program === null ? undefined : programs.find(program);
  const variables = Object.keys(harness?.env ?? {});
  const isKeyMissing = known !== undefined && keyWords(known, variables).look === "missing";
  const save = useMutation({
    mutationFn: async (chosen: Program) => changeAgent(client, agent.name, { trigger_mode: "reactive", harness: harnessFor(harness, chosen, { command, url }) }),
  });
  const refused = useMemo(() => commandRefusal(save.error), [save.error]);
  const part = useFocusFault<HTMLFormElement>(refused);
  const fault = refused ? (fieldError(refused, "harness.command") ?? addressFault(refused) ?? fieldError(refused, "harness") ?? sentenceOf(refused)) : undefined;
  // Other quotes around the same words are no change.
  const isSameCommand = program !== "generic" || joinWords(splitWords(command).words ?? []) === savedCommand;
  const isSame = program === savedProgram && isSameCommand && (program !== "webhook" || url.trim() === harness?.url);
  const change = (more: () => void) => {
    save.reset();
    more();
  };
  return (
    <form
      ref={part}
      noValidate
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (program !== null) save.mutate(program);
      }}
    >
      <ProgramCards value={program} programs={programs} variables={variables} onChange={(next) => change(() => setProgram(next))} />
      {programs.list?.reason && program !== "webhook" ? <NotAllowed /> : null}
      {program === "generic" ? (
        <TextField
          label="Command"
          hint="Executable and arguments on the server."
          error={fault}
          value={command}
          onChange={(text) => change(() => setCommand(text))}
          placeholder="/usr/local/bin/my-agent --quiet"
          required
          spellCheck={false}
          autoComplete="off"
        />
      ) : program === "webhook" ? (
        <>
          <AddressField value={url} error={fault} onChange={(text) => change(() => setUrl(text))} />
          <SigningSecret agent={agent} />
          <WhatHubSends />
        </>
      ) : fault ? (
        <Refusal>{fault}</Refusal>
      ) : null}
      {known && !programs.list?.reason ? <ProgramNeeds agent={agent.name} known={known} variables={variables} data={programs.list?.data_folder} /> : null}
      {program !== null && program !== "webhook" && programs.list ? <Isolation isIsolated={programs.list.isolated} /> : null}
      {program === null ? null : hasCommand(agent) && isSame ? (
        <p role="status" className="flex items-center gap-2 font-medium text-approved">
          <Check size={16} aria-hidden="true" />
          Saved. A message from you now {startsWords(program)}
          {isKeyMissing ? ", which needs its key first" : ""}.
        </p>
      ) : (
        <Button type="submit" look="filled" size="form" className="self-start" disabled={save.isPending}>
          {program === "generic" ? "Save command" : program === "webhook" ? "Save address" : `Use ${cardOf(program).label}`}
        </Button>
      )}
      <p className="text-sm text-muted">The model, limits and more settings are on the agent's page.</p>
    </form>
  );
}

/** What a message does, after "A message from you now". */
function startsWords(program: Program): string {
  if (program === "webhook") return "calls this address";
  return program === "generic" ? "starts this command" : `starts ${cardOf(program).label}`;
}
