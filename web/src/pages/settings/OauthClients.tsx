import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { type OauthClient, clientsQuery } from "../../api/account";
import { api, ok } from "../../api/client";
import { meQuery } from "../../api/queries";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Confirm";
import { type Column, DataTable } from "../../ui/DataTable";
import { AgentName } from "../../ui/Names";
import { Section } from "../../ui/Section";
import { Empty, Failed, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toasts";
import { lazyPart } from "../../ui/lazyPart";

const NewClientDialog = lazyPart(() => import("./NewClientDialog").then((part) => part.NewClientDialog));

/** The OAuth clients of the person. */
export function OauthClients() {
  const client = useQueryClient();
  const clients = useQuery(clientsQuery);
  const agents = useQuery(meQuery).data?.agents ?? [];
  const [isMaking, setMaking] = useState(false);
  const [deleting, setDeleting] = useState<OauthClient | null>(null);
  const columns: Array<Column<OauthClient>> = [
    { title: "Name", cell: (one) => <span className="font-medium">{one.name}</span> },
    { title: "Agent", cell: (one) => (one.agent ? <AgentName name={one.agent} /> : "") },
    { title: "Client id", cell: (one) => <code className="font-mono text-sm break-all">{one.client_id}</code> },
    { title: "Created", cell: (one) => <Time at={one.created_at} /> },
    {
      title: "Last use",
      cell: (one) => (one.last_used_at ? <Time at={one.last_used_at} /> : <span className="text-muted">never</span>),
    },
    {
      title: "Actions",
      isTitleHidden: true,
      isEnd: true,
      cell: (one) => (
        <Button size="row" look="danger" aria-label={`Delete ${one.name}`} onClick={() => setDeleting(one)}>
          Delete
        </Button>
      ),
    },
  ];
  return (
    <Section
      title="Your clients"
      description="For your own services that get their tokens with an id and a secret (OAuth). Each acts as one agent."
      action={agents.length ? <Button onClick={() => setMaking(true)}>New client</Button> : null}
    >
      {clients.isError ? <Failed error={clients.error} retry={() => void clients.refetch()} /> : null}
      {clients.isLoading ? <Skeleton rows={2} /> : null}
      {clients.data?.length === 0 ? (
        <Empty title="No clients yet">
          {agents.length ? (
            "Create one only if your service needs OAuth. For everything else, a key of the agent is simpler."
          ) : (
            <>
              A client acts as an agent, and you have no agents yet.{" "}
              <Link to="/welcome" className="text-accent underline">
                Create an agent
              </Link>
              .
            </>
          )}
        </Empty>
      ) : null}
      {clients.data?.length ? <DataTable label="Your clients" columns={columns} rows={clients.data} keyOf={(one) => one.client_id} /> : null}
      {isMaking ? <NewClientDialog agents={agents} onClose={() => setMaking(false)} /> : null}
      {deleting ? (
        <Confirm
          title={`Delete ${deleting.name}?`}
          action="Delete"
          onClose={() => setDeleting(null)}
          onConfirm={async () => {
            await ok(api.DELETE("/api/oauth/clients/{client_id}", { params: { path: { client_id: deleting.client_id } } }));
            await client.invalidateQueries({ queryKey: clientsQuery.queryKey });
            toast(`${deleting.name} deleted`);
          }}
        >
          <p>Its tokens and its secret stop working immediately. This cannot be undone.</p>
        </Confirm>
      ) : null}
    </Section>
  );
}
