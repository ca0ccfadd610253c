import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { type ApiKey, keysQuery } from "../../api/account";
import { api, ok } from "../../api/client";
import { meQuery } from "../../api/queries";
import { Avatar } from "../../ui/Avatar";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Confirm";
import { type Column, DataTable } from "../../ui/DataTable";
import { AgentName, KeyChannels } from "../../ui/Names";
import { Section } from "../../ui/Section";
import { Empty, Failed, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toasts";
import { lazyPart } from "../../ui/lazyPart";
import { AgentKeys } from "./AgentKeys";
import { permissionWords } from "./permissions";

const NewKey = lazyPart(() => import("./NewKey").then((part) => part.NewKey));

function isExpired(key: ApiKey): boolean {
  return Boolean(key.expires_at) && new Date(key.expires_at!).getTime() <= Date.now();
}

const COLUMNS: Array<Column<ApiKey>> = [
  { title: "Name", cell: (key) => <span className="font-medium">{key.name}</span> },
  {
    title: "Agent",
    cell: (key) => (
      <span className="flex items-center gap-2">
        <Avatar name={key.agent} kind="agent" size="small" />
        <AgentName name={key.agent} />
      </span>
    ),
  },
  { title: "Permissions", cell: (key) => <span className="block max-w-64 text-sm">{permissionWords(key.permissions)}</span> },
  {
    title: "Channels",
    cell: (key) => (
      <span className="block max-w-48 text-sm">
        <KeyChannels of={key} none={<span className="text-muted">all</span>} />
      </span>
    ),
  },
  {
    title: "Expires",
    cell: (key) =>
      isExpired(key) ? (
        <Badge colour="warning">Expired</Badge>
      ) : key.expires_at ? (
        <Time at={key.expires_at} />
      ) : (
        <span className="text-muted">never</span>
      ),
  },
  { title: "Last use", cell: (key) => (key.last_used_at ? <Time at={key.last_used_at} /> : <span className="text-muted">never</span>) },
];

/** The keys of all agents of the person: managed ones, and each one's own. */
export function KeysPage() {
  const client = useQueryClient();
  const keys = useQuery(keysQuery);
  const agents = useQuery(meQuery).data?.agents ?? [];
  const [isMaking, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  const active = keys.data?.filter((key) => key.status === "active") ?? [];
  const revoked = keys.data?.filter((key) => key.status === "revoked") ?? [];
  const columns: Array<Column<ApiKey>> = [
    ...COLUMNS,
    {
      title: "Actions",
      isTitleHidden: true,
      isEnd: true,
      cell: (key) => (
        <Button size="row" look="danger" aria-label={`Revoke ${key.name}`} onClick={() => setRevoking(key)}>
          Revoke
        </Button>
      ),
    },
  ];
  return (
    <>
      <Section
        title="Managed keys"
        description="Extra keys with limits. Each acts as one of your agents."
        action={
          agents.length ? (
            <Button look="filled" onClick={() => setMaking(true)}>
              New key
            </Button>
          ) : null
        }
      >
        {keys.isError ? <Failed error={keys.error} retry={() => void keys.refetch()} /> : null}
        {keys.isLoading ? <Skeleton rows={3} /> : null}
        {keys.data && active.length === 0 ? (
          <Empty title="No managed keys">
            {agents.length ? (
              "Agents can still use their own keys. Create one for limited or expiring access."
            ) : (
              <>
                A key belongs to an agent, and you have no agents yet.{" "}
                <Link to="/welcome" className="text-accent underline">
                  Create an agent
                </Link>
                .
              </>
            )}
          </Empty>
        ) : null}
        {active.length ? <DataTable label="Keys" columns={columns} rows={active} keyOf={(key) => key.id} /> : null}
      </Section>
      <AgentKeys agents={agents} />
      {revoked.length ? (
        <Section title="Revoked" description="These keys no longer work.">
          <DataTable label="Revoked keys" columns={COLUMNS} rows={revoked} keyOf={(key) => key.id} />
        </Section>
      ) : null}
      {isMaking ? <NewKey agents={agents} onClose={() => setMaking(false)} /> : null}
      {revoking ? (
        <Confirm
          title="Revoke key?"
          action="Revoke"
          onClose={() => setRevoking(null)}
          onConfirm={async () => {
            await ok(api.DELETE("/api/keys/{id}", { params: { path: { id: revoking.id } } }));
            await client.invalidateQueries({ queryKey: keysQuery.queryKey });
            toast(`Key “${revoking.name}” revoked`);
          }}
        >
          <p>
            Anything using “{revoking.name}” loses access as @{revoking.agent} immediately. This cannot be undone.
          </p>
        </Confirm>
      ) : null}
    </>
  );
}
