import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Check } from "lucide-react";
import { useMemo, useState } from "react";

import { commandRefusal } from "../../agents/runs/commandRefusal";
import { joinWords, splitWords } from "../../agents/runs/commandLine";
import { changeAgent } from "../../api/agents";
import { Problem, sentenceOf } from "../../api/problem";
import type { Agent } from "../../api/types";
import { Button } from "../../ui/Button";
import { TextField, fieldError } from "../../ui/TextField";
import { useFocusFault } from "../../ui/useFocusFault";
import { hasCommand } from "./ways";

/** Sets the command that messages to the agent start. */
export function CommandWay({ agent }: { agent: Agent }) {
  const client = useQueryClient();
  const saved = joinWords(agent.harness?.command ?? []);
  const [command, setCommand] = useState(saved);
  const save = useMutation({
    mutationFn: async () => {
      const { words = [], error } = splitWords(command);
      if (error !== undefined) throw new Problem(422, "bad_command", error);
      if (words.length === 0) throw new Problem(422, "bad_command", "Enter a command.");
      return changeAgent(client, agent.name, { trigger_mode: "reactive", harness: { ...agent.harness, backend: "subprocess", command: words } });
    },
  });
  const refused = useMemo(() => commandRefusal(save.error), [save.error]);
  const part = useFocusFault<HTMLFormElement>(refused);
  // Other quotes around the same words are no change.
  const isDone = hasCommand(agent) && joinWords(splitWords(command).words ?? []) === saved;
  return (
    <form
      ref={part}
      noValidate
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <TextField
        label="Command"
        hint="Executable and arguments on the server. By default only admins may use commands. Limits and more settings are on the agent's page."
        error={refused ? (fieldError(refused, "harness.command") ?? fieldError(refused, "harness") ?? sentenceOf(refused)) : undefined}
        value={command}
        onChange={(text) => {
          save.reset();
          setCommand(text);
        }}
        placeholder="/usr/local/bin/my-agent --quiet"
        required
        spellCheck={false}
        autoComplete="off"
      />
      {isDone ? (
        <p role="status" className="flex items-center gap-2 font-medium text-approved">
          <Check size={16} aria-hidden="true" />
          Saved. A message from you now starts this command.
        </p>
      ) : (
        <Button type="submit" look="filled" size="form" className="self-start" disabled={save.isPending}>
          Save command
        </Button>
      )}
    </form>
  );
}
