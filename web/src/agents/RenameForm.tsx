import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { changeAgent } from "../api/agents";
import type { Agent } from "../api/types";
import { Button } from "../ui/Button";
import { FormError } from "../ui/TextField";

/** Changes the display name of an agent, in place of its title. */
export function RenameForm({ agent, onClose }: { agent: Agent; onClose: () => void }) {
  const client = useQueryClient();
  const [text, setText] = useState(agent.display_name);
  const [error, setError] = useState<unknown>(null);
  const save = async () => {
    const next = text.trim();
    if (next === agent.display_name) return onClose();
    try {
      await changeAgent(client, agent.name, { display_name: next });
      onClose();
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <form
      className="flex flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
      }}
    >
      <input
        aria-label="Display name"
        aria-invalid={error ? true : undefined}
        value={text}
        autoFocus
        required
        maxLength={100}
        onChange={(event) => setText(event.target.value)}
        className="h-8 w-56 max-w-full rounded-md border border-control bg-bg px-2 text-lg font-semibold pointer-coarse:h-11"
      />
      <Button type="submit" look="filled" disabled={!text.trim()}>
        Save
      </Button>
      <Button onClick={onClose}>Cancel</Button>
      <FormError error={error} />
    </form>
  );
}
