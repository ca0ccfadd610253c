import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { AgentsNext } from "../../agents/AgentsNext";
import { type Grant, grantsQuery } from "../../api/account";
import { api, ok } from "../../api/client";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Confirm";
import { type Column, DataTable } from "../../ui/DataTable";
import { AgentName } from "../../ui/Names";
import { Section } from "../../ui/Section";
import { Empty, Failed, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toasts";

/** The apps that the person let in, and disconnecting them. */
export function ConnectedApps() {
  const client = useQueryClient();
  const grants = useQuery(grantsQuery);
  const [ending, setEnding] = useState<Grant | null>(null);
  const columns: Array<Column<Grant>> = [
    {
      title: "App",
      cell: (grant) => (
        <>
          <span className="font-medium">{grant.client.name}</span>
          {grant.redirect_host ? <span className="block text-sm text-muted">{grant.redirect_host}</span> : null}
        </>
      ),
    },
    { title: "Acts as", cell: (grant) => (grant.agent ? <AgentName name={grant.agent} /> : "you") },
    { title: "Permissions", cell: (grant) => <span title={grant.scope}>{scopeWords(grant.scope)}</span> },
    { title: "Authorized", cell: (grant) => <Time at={grant.created_at} /> },
    {
      title: "Last use",
      cell: (grant) => (grant.last_used_at ? <Time at={grant.last_used_at} /> : <span className="text-muted">never</span>),
    },
    { title: "Expires", cell: (grant) => <Time at={grant.expires_at} /> },
    {
      title: "Actions",
      isTitleHidden: true,
      isEnd: true,
      cell: (grant) => (
        <Button size="row" look="danger" aria-label={`Disconnect ${grant.client.name}`} onClick={() => setEnding(grant)}>
          Disconnect
        </Button>
      ),
    },
  ];
  return (
    <Section title="Connected apps" description="Apps you authorized. Each acts as you or as one of your agents.">
      {grants.isError ? <Failed error={grants.error} retry={() => void grants.refetch()} /> : null}
      {grants.isLoading ? <Skeleton rows={2} /> : null}
      {grants.data?.length === 0 ? (
        <Empty title="No connected apps">
          <p>Clients that you log in from appear here. To connect one, open an agent and choose “Log in” under Connect.</p>
          <AgentsNext />
        </Empty>
      ) : null}
      {grants.data?.length ? <DataTable label="Connected apps" columns={columns} rows={grants.data} keyOf={(grant) => grant.id} /> : null}
      {ending ? (
        <Confirm
          title={`Disconnect ${ending.client.name}?`}
          action="Disconnect"
          onClose={() => setEnding(null)}
          onConfirm={async () => {
            await ok(api.DELETE("/api/oauth/grants/{id}", { params: { path: { id: ending.id } } }));
            await client.invalidateQueries({ queryKey: grantsQuery.queryKey });
            toast(`${ending.client.name} disconnected`);
          }}
        >
          <p>The app loses access immediately and must ask you again to reconnect.</p>
        </Confirm>
      ) : null}
    </Section>
  );
}

/** The scopes of OAuth in words. */
function scopeWords(scope: string): string {
  return scope.split(" ").includes("mcp:write") ? "Read and write" : "Read only";
}
