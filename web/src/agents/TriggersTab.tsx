import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { type TriggerMode, changeAgent } from "../api/agents";
import type { Agent } from "../api/types";
import { Button } from "../ui/Button";
import { Field, INPUT } from "../ui/Field";
import { FormError, SelectField, TextField, fieldError } from "../ui/TextField";
import { toast } from "../ui/Toasts";
import { type TriggerForm, changesOf, formOf } from "./triggers";

const MODES: Record<TriggerMode, string> = {
  passive: "It reads its inbox when it wants to. The hub never starts it.",
  reactive: "A direct message or a mention is to start a run.",
  disabled: "It is switched off: the hub never starts it.",
};

/** What starts the agent, how often, and with what. */
export function TriggersTab({ agent }: { agent: Agent }) {
  const client = useQueryClient();
  // Only what was typed is kept here; the rest stays what the agent has, also when that changes.
  const [typed, setTyped] = useState<Partial<TriggerForm>>({});
  const form = { ...formOf(agent), ...typed };
  const { changes, errors } = changesOf(agent, form);
  const isChanged = Object.keys(changes).length > 0;
  const hasErrors = Object.keys(errors).length > 0;
  const save = useMutation({
    mutationFn: () => changeAgent(client, agent.name, changes),
    onSuccess: () => {
      setTyped({});
      toast("Saved.");
    },
  });
  const set = (field: keyof TriggerForm) => (value: string) => setTyped((now) => ({ ...now, [field]: value }));
  const said = (field: string) => fieldError(save.error, field);
  return (
    <form
      className="flex max-w-2xl flex-col gap-6 p-6 max-md:px-4"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <h2 className="sr-only">Triggers</h2>
      <p className="rounded-md border border-line bg-panel px-3 py-2">
        This version of the hub does not start agents by itself: an agent works when its own program asks for messages. What you set here is kept
        for the version that does.
      </p>
      <SelectField label="Mode" hint={MODES[form.mode]} error={said("trigger_mode")} value={form.mode} onChange={set("mode")}>
        {Object.keys(MODES).map((mode) => (
          <option key={mode} value={mode}>
            {mode}
          </option>
        ))}
      </SelectField>
      <div className="grid gap-6 sm:grid-cols-2">
        <TextField
          label="Cooldown, in seconds"
          hint="A run is one time that the hub starts the agent. This is how long it waits between two of them"
          error={errors.cooldown ?? said("cooldown_seconds")}
          inputMode="numeric"
          value={form.cooldown}
          onChange={set("cooldown")}
        />
        <TextField
          label="Depth"
          hint="How many agents in a row may start one another, so that they do not call each other for ever"
          error={errors.depth ?? said("max_trigger_depth")}
          inputMode="numeric"
          value={form.depth}
          onChange={set("depth")}
        />
        <TextField
          label="Runs per day"
          hint="You are warned at 80 %; at 100 % it pauses until 00:00 UTC"
          error={errors.runs ?? said("budget.runs_per_day")}
          inputMode="numeric"
          value={form.runs}
          onChange={set("runs")}
        />
        <TextField
          label="Cost per day, in dollars"
          hint="Leave empty for no limit"
          error={errors.cost ?? said("budget.cost_usd_per_day")}
          inputMode="decimal"
          value={form.cost}
          onChange={set("cost")}
        />
      </div>
      <TextField
        label="Container image"
        hint="The agent's program as a container, for a hub that runs agents in a Kubernetes cluster. Leave empty otherwise"
        error={said("k8s_image")}
        value={form.image}
        onChange={set("image")}
        spellCheck={false}
        autoComplete="off"
      />
      <Field
        label="Harness"
        hint={
          <>
            The program that the hub runs when it starts the agent, and how, as JSON: <code className="font-mono">{'{"backend": "subprocess", "command": ["claude", "-p"], "adapter": "claude-code"}'}</code>.
            Leave empty if the agent's program runs elsewhere and connects by itself.
          </>
        }
        error={errors.harness ?? said("harness")}
      >
        {(wiring) => (
          <textarea
            {...wiring}
            value={form.harness}
            onChange={(event) => set("harness")(event.target.value)}
            rows={8}
            spellCheck={false}
            className={`${INPUT} h-auto! py-2 font-mono text-sm`}
          />
        )}
      </Field>
      <FormError error={save.error} />
      <div className="flex gap-2">
        <Button type="submit" look="filled" size="form" disabled={!isChanged || hasErrors || save.isPending}>
          Save
        </Button>
        <Button size="form" disabled={Object.keys(typed).length === 0} onClick={() => setTyped({})}>
          Discard
        </Button>
      </div>
    </form>
  );
}
