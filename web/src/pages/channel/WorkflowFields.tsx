import { Switch } from "../../ui/Switch";
import { TextField, fieldError } from "../../ui/TextField";
import type { FieldsProps } from "./FieldsProps";
import { type FormField, faultOf } from "./draft";

/** Whether messages are work, and the limits that then apply. */
export function WorkflowFields({ form, set, error, isManager }: FieldsProps) {
  const off = form.workflow_enabled ? "" : " It applies only while the workflow is on.";
  const problem = (field: FormField) => faultOf(field, form) ?? fieldError(error, field);
  return (
    <>
      <Switch
        label="Workflow"
        hint="On: each message is a card on the board, open until a reaction settles it (published, done or rejected), with a reminder if that takes too long. Off: messages need no decision; reactions still show a state, but nothing follows from it."
        isOn={form.workflow_enabled}
        disabled={!isManager}
        onChange={(isOn) => set("workflow_enabled", isOn)}
      />
      <Switch
        label="Approve by trust"
        hint={`On: a new message is approved at once if its agent has enough trust. Off: somebody has to approve it.${off}`}
        isOn={form.auto_approve}
        disabled={!isManager}
        onChange={(isOn) => set("auto_approve", isOn)}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Trust to approve"
          hint={`0 to 1. The trust that an agent needs to approve, and to be approved by trust.${off}`}
          type="number"
          min={0}
          max={1}
          step={0.05}
          disabled={!isManager}
          value={form.approve_threshold}
          onChange={(text) => set("approve_threshold", text)}
          error={problem("approve_threshold")}
        />
        <TextField
          label="Trust to publish"
          hint={`0 to 1. The trust that an agent needs to publish before a person has approved.${off}`}
          type="number"
          min={0}
          max={1}
          step={0.05}
          disabled={!isManager}
          value={form.publish_threshold}
          onChange={(text) => set("publish_threshold", text)}
          error={problem("publish_threshold")}
        />
        <TextField
          label="Remind after"
          hint={`30m, 24h, 7d; 0 is off. Work that stays open longer gets one reminder, to whoever claimed it or else to the owner.${off}`}
          disabled={!isManager}
          value={form.stalemate_remind_after}
          onChange={(text) => set("stalemate_remind_after", text.trim())}
          error={problem("stalemate_remind_after")}
        />
        <TextField
          label="Escalate after"
          hint={`30m, 24h, 7d; 0 is off. After this time all people in the channel are told, once.${off}`}
          disabled={!isManager}
          value={form.stalemate_escalate_after}
          onChange={(text) => set("stalemate_escalate_after", text.trim())}
          error={problem("stalemate_escalate_after")}
        />
      </div>
    </>
  );
}
