import { Shield, ShieldAlert } from "lucide-react";

import type { Agent } from "../../api/types";
import { Failed, Skeleton } from "../../ui/States";
import { lazyPart } from "../../ui/lazyPart";
import { CommandCard } from "./CommandCard";
import { ProgramCards } from "./ProgramCards";
import { ProgramNeeds } from "./ProgramNeeds";
import { ProgramSettings } from "./ProgramSettings";
import { chosen } from "./form";
import { isolationWords } from "./programWords";
import { programOf } from "./programs";
import { usePrograms } from "./usePrograms";
import type { RunEdits } from "./useRunForm";

const WebhookSettings = lazyPart(() => import("./WebhookSettings").then((part) => part.WebhookSettings), <Skeleton rows={2} />);

/** What a message starts, and how it runs. */
export function ProgramSection({ agent, edits }: { agent: Agent; edits: RunEdits }) {
  const { form } = edits;
  const { adapter: program } = form;
  const programs = usePrograms(agent.name, program);
  const known = program === null ? undefined : programs.find(program);
  const variables = form.environment.map(({ name }) => name.trim());
  const other = agent.harness && programOf(agent.harness) === null ? agent.harness.backend : null;
  const folders = programs.list;
  const isOnServer = program !== null && program !== "webhook";
  return (
    <div className="flex min-w-0 flex-col gap-4">
      {programs.error && !programs.list ? <Failed error={programs.error} retry={programs.retry} /> : null}
      {other ? (
        <p className="text-amber">This agent is set up for the backend “{other}”, which is not supported yet. Saving a choice below replaces that setup.</p>
      ) : null}
      <ProgramCards
        value={program}
        programs={programs}
        variables={variables}
        onChange={(next) => edits.setAll(chosen(agent, next))}
      />
      {programs.list?.reason && program !== "webhook" ? <NotAllowed /> : null}
      {program !== null && form.mode === "reactive" && agent.trigger_mode !== "reactive" ? (
        <p role="status">
          When you save, messages start @{agent.name}. {agent.trigger_mode === "passive" ? "Until then, they wait in its inbox." : "Until then, it is switched off."}
        </p>
      ) : null}
      {known && !programs.list?.reason ? <ProgramNeeds agent={agent.name} known={known} variables={variables} data={programs.list?.data_folder} /> : null}
      {program === null ? null : program === "generic" ? (
        <CommandCard edits={edits} folders={folders} />
      ) : program === "webhook" ? (
        <WebhookSettings agent={agent} edits={edits} />
      ) : (
        <ProgramSettings key={program} agent={agent.name} program={program} known={known} folders={folders} edits={edits} />
      )}
      {isOnServer && programs.list ? <Isolation isIsolated={programs.list.isolated} /> : null}
    </div>
  );
}

export function NotAllowed() {
  return <p className="text-amber">Your agents are not allowed to run commands on this hub. Ask an admin, choose Webhook, or connect a client instead.</p>;
}

export function Isolation({ isIsolated }: { isIsolated: boolean }) {
  const Icon = isIsolated ? Shield : ShieldAlert;
  return (
    <p className="flex items-start gap-2 text-sm text-muted">
      <Icon size={14} aria-hidden="true" className="mt-0.5 shrink-0" />
      {isolationWords(isIsolated)}
    </p>
  );
}
