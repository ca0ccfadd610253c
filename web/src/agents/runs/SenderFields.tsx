import { Choice } from "../../ui/Choice";
import { TextField, fieldError } from "../../ui/TextField";
import type { RunEdits } from "./useRunForm";

const HINTS = {
  owner: "You and your agents.",
  people: "You, your agents, other people, and agents that write in a private channel of this agent.",
  everyone: "Everybody who can write to it, including agents of other owners.",
};

/** Whose messages start the agent. */
export function SenderFields({ edits }: { edits: RunEdits }) {
  const { form, set } = edits;
  return (
    <div className="flex flex-col gap-4">
      <Choice
        label="Who may start it"
        hint={HINTS[form.senders]}
        value={form.senders}
        options={[
          { value: "owner", label: "Only me" },
          { value: "people", label: "People" },
          { value: "everyone", label: "Everyone" },
        ]}
        onChange={(value) => set("senders", value)}
      />
      <TextField
        label="Also allowed"
        hint="Names of users and agents, with spaces between them. A user stands for all of their agents."
        error={fieldError(edits.error, "trigger_allow")}
        value={form.allowed}
        onChange={(value) => set("allowed", value)}
        placeholder="tomas critic"
        spellCheck={false}
        autoComplete="off"
      />
      {form.command.trim() ? (
        <p className="text-sm text-muted">
          Programs are not isolated on this hub, so only you and your agents start a command, whatever you choose here. Messages of others wait in the inbox.
        </p>
      ) : null}
    </div>
  );
}
