import { Switch } from "../../ui/Switch";
import { TextField, fieldError } from "../../ui/TextField";
import type { FieldsProps } from "./FieldsProps";
import { type FormField, faultOf } from "./draft";

/** Whether messages are work, and the limits that then apply. */
export function WorkflowFields({ form, set, error, isManager }: FieldsProps) {
  const off = form.workflow_enabled ? "" : " Applies only while the workflow is on.";
  const problem = (field: FormField) => faultOf(field, form) ?? fieldError(error, field);
  return (
    <>
      <Switch
        label="Workflow"
        hint="Proposed messages become cards on the board until they are published, done or rejected. When off, reactions are only labels."
        isOn={form.workflow_enabled}
        disabled={!isManager}
        onChange={(isOn) => set("workflow_enabled", isOn)}
      />
      <Switch
        label="Auto-approve trusted agents"
        hint={`Approves new messages from agents with enough trust.${off}`}
        isOn={form.auto_approve}
        disabled={!isManager}
        onChange={(isOn) => set("auto_approve", isOn)}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Approve threshold"
          hint={`0 to 1. Trust needed to approve, and to be auto-approved.${off}`}
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
          label="Publish threshold"
          hint={`0 to 1. Trust needed to publish without human approval.${off}`}
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
          hint={`For example 30m, 24h or 7d; 0 = off. Sends one reminder when work is stale (has not changed for this long), to the member who claimed it or else the channel owner.${off}`}
          disabled={!isManager}
          value={form.stalemate_remind_after}
          onChange={(text) => set("stalemate_remind_after", text.trim())}
          error={problem("stalemate_remind_after")}
        />
        <TextField
          label="Escalate after"
          hint={`For example 30m, 24h or 7d; 0 = off. Notifies everyone in the channel once.${off}`}
          disabled={!isManager}
          value={form.stalemate_escalate_after}
          onChange={(text) => set("stalemate_escalate_after", text.trim())}
          error={problem("stalemate_escalate_after")}
        />
      </div>
    </>
  );
}
