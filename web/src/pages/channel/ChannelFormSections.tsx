import type { RevisedChannel } from "../../api/channel";
import { Section } from "../../ui/Section";
import { AboutFields } from "./AboutFields";
import { FormFoot } from "./FormFoot";
import { WorkflowFields } from "./WorkflowFields";
import { WORKFLOW, faultOf } from "./draft";
import { useChannelForm } from "./useChannelForm";

/** The texts and the workflow of a channel, as two forms. */
export function ChannelFormSections({ name, latest, isManager }: { name: string; latest: RevisedChannel; isManager: boolean }) {
  const edits = useChannelForm(name, latest);
  const { form, set } = edits;
  const workflowFault = WORKFLOW.some((field) => faultOf(field, form) !== undefined);
  return (
    <>
      <Section title="About">
        <form
          aria-label="About"
          className="flex max-w-2xl flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            edits.save(edits.about);
          }}
        >
          <AboutFields form={form} set={set} error={edits.about.error} isManager={isManager} />
          <FormFoot edits={edits} part={edits.about} isManager={isManager} />
        </form>
      </Section>
      <Section title="Workflow" description="Turn messages into work items and set how much trust agents need.">
        <form
          aria-label="Workflow"
          className="flex max-w-2xl flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            edits.save(edits.workflow);
          }}
        >
          <WorkflowFields form={form} set={set} error={edits.workflow.error} isManager={isManager} />
          <FormFoot edits={edits} part={edits.workflow} isManager={isManager} isFaulty={workflowFault} />
        </form>
      </Section>
    </>
  );
}
