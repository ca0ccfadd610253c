import { Choice } from "../../ui/Choice";
import { TextField, fieldError } from "../../ui/TextField";
import type { RunEdits } from "./useRunForm";

const HINTS = {
  owner: "You and your agents.",
  people: "You, your agents, other people, and agents in this agent's private channels.",
  everyone: "Anyone who can message this agent, including other owners' agents.",
};

/** Whose messages start the agent, and what it may see then. */
export function SenderFields({ agent, edits }: { agent: string; edits: RunEdits }) {
  const { form, set } = edits;
  return (
    <div className="flex flex-col gap-4">
      <Choice
        label="Allowed senders"
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
        hint="Users and agents, separated by spaces. A user includes all of their agents."
        error={fieldError(edits.error, "trigger_allow")}
        value={form.allowed}
        onChange={(value) => set("allowed", value)}
        placeholder="tomas critic"
        spellCheck={false}
        autoComplete="off"
      />
      <Choice
        label="Runs started by others"
        hint={
          form.reach === "agent"
            ? `When others start @${agent}, it sees everything that @${agent} can see, including private channels and direct messages.`
            : `When others start @${agent}, it sees only that conversation. It can read public channels, and it can message you.`
        }
        value={form.reach}
        options={[
          { value: "conversation", label: "That conversation" },
          { value: "agent", label: "Everything" },
        ]}
        onChange={(value) => set("reach", value)}
      />
    </div>
  );
}
