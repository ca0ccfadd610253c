import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { type Waiting, resumeAll } from "../../api/automation";
import { Button } from "../../ui/Button";
import { Choice } from "../../ui/Choice";
import { Dialog } from "../../ui/Dialog";
import { FormError } from "../../ui/TextField";
import { toast } from "../../ui/Toasts";

/** Lets everything start again, after the person has chosen what becomes of what waits. */
export function ResumeDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [waiting, setWaiting] = useState<Waiting>("run");
  const resume = useMutation({
    mutationFn: () => resumeAll(client, waiting),
    onSuccess: () => {
      toast("Your agents may start again.");
      onClose();
    },
  });
  return (
    <Dialog title="Resume" onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          resume.mutate();
        }}
      >
        <Choice
          label="What waits"
          hint={waiting === "run" ? "Agents start on the messages that wait, and webhooks are sent." : "Waiting messages start nothing and waiting deliveries are not sent. The messages stay in the inboxes of your agents."}
          value={waiting}
          options={[
            { value: "run", label: "Run it" },
            { value: "drop", label: "Drop it" },
          ]}
          onChange={setWaiting}
        />
        <FormError error={resume.error} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button size="form" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="filled" size="form" disabled={resume.isPending}>
            Resume
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
