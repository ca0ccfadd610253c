import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";

import { type AuditEntry, auditQuery } from "../../api/admin";
import { Button } from "../../ui/Button";
import { type Column, DataTable } from "../../ui/DataTable";
import { Dialog } from "../../ui/Dialog";
import { Facts } from "../../ui/Facts";
import { JsonView } from "../../ui/JsonView";
import { AgentName, ChannelNames } from "../../ui/Names";
import { Section } from "../../ui/Section";
import { Empty, Failed, Skeleton } from "../../ui/States";
import { TextField } from "../../ui/TextField";
import { Time } from "../../ui/Time";

const route = getRouteApi("/admin");

/** Who changed what about accounts, keys, channels and the hub. */
export function AuditTab() {
  const { actor, action } = route.useSearch();
  const navigate = route.useNavigate();
  const entries = useInfiniteQuery(auditQuery({ ...(actor ? { actor } : {}), ...(action ? { action } : {}) }));
  const [shown, setShown] = useState<AuditEntry | null>(null);
  const narrow = (change: { actor?: string; action?: string }) =>
    void navigate({ search: (now) => ({ ...now, ...change }) });
  const rows = entries.data?.pages.flatMap((page) => page.items) ?? [];
  const chip = "text-left hover:underline text-accent min-h-6";
  const columns: Array<Column<AuditEntry>> = [
    { title: "When", cell: (entry) => <Time at={entry.at} as="date" /> },
    {
      title: "By",
      cell: (entry) =>
        entry.actor ? (
          <button type="button" className={chip} title="Show only this actor" onClick={() => narrow({ actor: entry.actor ?? undefined })}>
            {entry.actor}
          </button>
        ) : (
          <span className="text-muted">nobody</span>
        ),
    },
    {
      title: "Action",
      cell: (entry) => (
        <button type="button" className={`${chip} font-mono text-sm`} title="Show only this action" onClick={() => narrow({ action: entry.action })}>
          {entry.action}
        </button>
      ),
    },
    { title: "Target", about: "The account, agent, key or channel that was changed.", cell: (entry) => entry.target ?? "" },
    { title: "Address", about: "IP address of the request.", isWideOnly: true, cell: (entry) => <span className="font-mono text-sm">{entry.remote_ip ?? ""}</span> },
    {
      title: "Details",
      isEnd: true,
      isTitleHidden: true,
      cell: (entry) => (
        <Button size="row" aria-label={`Details of entry ${entry.id}`} onClick={() => setShown(entry)}>
          Details
        </Button>
      ),
    },
  ];
  return (
    <Section title="Audit log" description="Who changed what, newest first. Message content is not logged.">
      <Filter key={`${actor} ${action}`} actor={actor} action={action} onChange={narrow} />
      {entries.isError ? <Failed error={entries.error} retry={() => void entries.refetch()} /> : null}
      {entries.isLoading ? <Skeleton /> : null}
      {entries.data && rows.length === 0 ? (
        <Empty title="No matching entries">
          <Button onClick={() => narrow({ actor: undefined, action: undefined })}>Clear filter</Button>
        </Empty>
      ) : null}
      {rows.length ? <DataTable label="Audit log" columns={columns} rows={rows} keyOf={(entry) => entry.id} /> : null}
      {entries.hasNextPage ? (
        <div>
          <Button disabled={entries.isFetchingNextPage} onClick={() => void entries.fetchNextPage()}>
            Show older entries
          </Button>
        </div>
      ) : null}
      {shown ? (
        <Dialog title={`Entry ${shown.id}`} onClose={() => setShown(null)} isWide>
          <div className="flex flex-col gap-4">
            <Facts
              items={[
                ["Action", <code key="action" className="font-mono">{shown.action}</code>],
                ["By", shown.actor ?? "nobody"],
                ["Target", <Target key="target" entry={shown} />],
                ["When", <Time key="when" at={shown.at} as="date" />],
                ["Address", shown.remote_ip ?? "unknown"],
                ["Request", <code key="request" className="font-mono text-sm break-all">{shown.request_id ?? "none"}</code>],
              ]}
            />
            <JsonView label="Details" value={shown.details} />
          </div>
        </Dialog>
      ) : null}
    </Section>
  );
}

/** What was changed, and the way to it where it has a page. */
function Target({ entry: { action, target } }: { entry: AuditEntry }) {
  if (!target) return "none";
  if (action.startsWith("agent.")) return <AgentName name={target} />;
  return action.startsWith("channel.") ? <ChannelNames names={[target]} /> : target;
}

function Filter({ actor = "", action = "", onChange }: {
  actor?: string;
  action?: string;
  onChange: (change: { actor?: string; action?: string }) => void;
}) {
  const [who, setWho] = useState(actor);
  const [what, setWhat] = useState(action);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onChange({ actor: who.trim() || undefined, action: what.trim() || undefined });
  };
  return (
    <form aria-label="Filter" className="grid max-w-2xl items-end gap-3 sm:grid-cols-[1fr_1fr_auto]" onSubmit={submit}>
      <TextField label="By" placeholder="user or agent" value={who} onChange={setWho} />
      <TextField label="Action" placeholder="for example agent.created" value={what} onChange={setWhat} />
      <div className="flex gap-2">
        <Button type="submit" size="form">
          Filter
        </Button>
        {actor || action ? (
          <Button size="form" look="plain" onClick={() => onChange({ actor: undefined, action: undefined })}>
            Clear
          </Button>
        ) : null}
      </div>
    </form>
  );
}
