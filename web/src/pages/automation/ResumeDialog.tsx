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
      toast("Automation resumed");
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
          label="Pending work"
          hint={waiting === "run" ? "Pending messages start agents and pending deliveries are sent." : "Pending messages start nothing and pending deliveries are not sent. The messages stay in your agents' inboxes."}
          value={waiting}
          options={[
            { value: "run", label: "Run" },
            { value: "drop", label: "Drop" },
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
