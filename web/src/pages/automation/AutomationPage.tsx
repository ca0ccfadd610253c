import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { AgentsNext } from "../../agents/AgentsNext";
import { type Automation, automationQuery, stopAll } from "../../api/automation";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Confirm";
import { LongTable } from "../../ui/LongTable";
import { Page } from "../../ui/Page";
import { Empty, Failed, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toasts";
import { ResumeDialog } from "./ResumeDialog";
import { automationColumns } from "./automationColumns";
import { stateWords } from "./words";

const LOOKS_AGAIN_MS = 5000;

/** Everything of the person that may start by itself, and the switch that stops all of it. */
export function AutomationPage() {
  const query = useQuery({ ...automationQuery, refetchInterval: LOOKS_AGAIN_MS });
  const automation = query.data;
  return (
    <Page title="Stop all my agents" subtitle="Automation">
      {query.isError && !automation ? <Failed error={query.error} retry={() => void query.refetch()} /> : null}
      {query.isLoading ? <Skeleton rows={3} /> : null}
      {automation ? (
        <div className="flex flex-col gap-6 p-6 max-md:px-4">
          <Switchboard automation={automation} />
          {automation.items.length ? (
            <LongTable label="Automation" columns={automationColumns} rows={automation.items} keyOf={({ kind, id }) => `${kind} ${id}`} />
          ) : (
            <Empty title="Nothing starts by itself yet">
              <p>Agents that messages start, webhooks and incoming webhooks appear here.</p>
              <AgentsNext />
            </Empty>
          )}
        </div>
      ) : null}
    </Page>
  );
}

function Switchboard({ automation }: { automation: Automation }) {
  const client = useQueryClient();
  const [asked, setAsked] = useState<"stop" | "resume" | null>(null);
  const { stopped, stopped_at, hub_stopped } = automation;
  return (
    <section aria-label="Status" className="flex max-w-3xl flex-col gap-3 rounded-lg border border-line bg-panel p-4">
      <h2 className="font-semibold">{stopped ? "Your automation is stopped" : hub_stopped ? "Stopped by the operator" : "Your automation is running"}</h2>
      <p>
        {stopped ? (
          <>
            {stopped_at ? (
              <>
                Stopped <Time at={stopped_at} />.{" "}
              </>
            ) : null}
            No agents start and no webhooks are sent until you resume. New messages are kept but start no runs.
          </>
        ) : hub_stopped ? (
          "Automation is stopped for everyone. Only the operator can resume it. New messages are kept but start no runs."
        ) : (
          "Stop everything if your agents misbehave. Runs end within 15 seconds and nothing starts until you resume."
        )}{" "}
        {stateWords(automation)}
      </p>
      {stopped && hub_stopped ? <p className="text-amber">The operator also stopped this hub. Nothing starts until both of you resume.</p> : null}
      <div>
        {stopped ? (
          <Button look="filled" size="form" onClick={() => setAsked("resume")}>
            Resume
          </Button>
        ) : (
          <Button look="danger" size="form" onClick={() => setAsked("stop")}>
            Stop everything
          </Button>
        )}
      </div>
      {asked === "stop" ? (
        <Confirm
          title="Stop everything?"
          action="Stop everything"
          onConfirm={async () => {
            await stopAll(client);
            toast("All your agents stopped");
          }}
          onClose={() => setAsked(null)}
        >
          <p>
            Active runs are cancelled within 15 seconds. Pending messages and deliveries stay pending; when you resume, you choose whether to run or drop them. New messages are kept but never start a run.
          </p>
        </Confirm>
      ) : null}
      {asked === "resume" ? <ResumeDialog onClose={() => setAsked(null)} /> : null}
    </section>
  );
}
