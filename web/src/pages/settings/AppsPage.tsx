import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { type Grant, type OauthClient, clientsQuery, grantsQuery } from "../../api/account";
import { api, ok, repeatKey } from "../../api/client";
import { meQuery } from "../../api/queries";
import type { Agent } from "../../api/types";
import { Button } from "../../ui/Button";
import { CopyField } from "../../ui/CopyField";
import { type Column, DataTable } from "../../ui/DataTable";
import { Confirm, Dialog } from "../../ui/Dialog";
import { AgentName } from "../../ui/Names";
import { SecretOnce } from "../../ui/SecretOnce";
import { Section } from "../../ui/Section";
import { Empty, Failed, Skeleton } from "../../ui/States";
import { FormError, SelectField, TextField, fieldError } from "../../ui/TextField";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toasts";

/** What acts for the person, and the clients that they have made. */
export function AppsPage() {
  return (
    <>
      <Grants />
      <Clients />
    </>
  );
}

/** The scopes of OAuth in words. */
function scopeWords(scope: string): string {
  return scope.split(" ").includes("mcp:write") ? "Read and write" : "Only read";
}

function Grants() {
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
    { title: "May do", cell: (grant) => <span title={grant.scope}>{scopeWords(grant.scope)}</span> },
    { title: "Allowed", cell: (grant) => <Time at={grant.created_at} /> },
    {
      title: "Last use",
      cell: (grant) => (grant.last_used_at ? <Time at={grant.last_used_at} /> : <span className="text-muted">never</span>),
    },
    { title: "Ends", cell: (grant) => <Time at={grant.expires_at} /> },
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
    <Section title="Connected apps" description="Programs that you let in with your login. Each acts as you or as one of your agents.">
      {grants.isError ? <Failed error={grants.error} retry={() => void grants.refetch()} /> : null}
      {grants.isLoading ? <Skeleton rows={2} /> : null}
      {grants.data?.length === 0 ? (
        <Empty title="No connected apps">When an MCP client asks to connect and you allow it, it appears here.</Empty>
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
            toast(`${ending.client.name} is disconnected.`);
          }}
        >
          <p>It loses its access at once. To come back, it has to ask you again.</p>
        </Confirm>
      ) : null}
    </Section>
  );
}

function Clients() {
  const client = useQueryClient();
  const clients = useQuery(clientsQuery);
  const agents = useQuery(meQuery).data?.agents ?? [];
  const [isMaking, setMaking] = useState(false);
  const [deleting, setDeleting] = useState<OauthClient | null>(null);
  const columns: Array<Column<OauthClient>> = [
    { title: "Name", cell: (one) => <span className="font-medium">{one.name}</span> },
    { title: "Agent", cell: (one) => (one.agent ? <AgentName name={one.agent} /> : "") },
    { title: "Client id", cell: (one) => <code className="font-mono text-sm break-all">{one.client_id}</code> },
    { title: "Made", cell: (one) => <Time at={one.created_at} /> },
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
      description="For services of yours that get their own tokens (client credentials). Each acts as one agent."
      action={agents.length ? <Button onClick={() => setMaking(true)}>New client</Button> : null}
    >
      {clients.isError ? <Failed error={clients.error} retry={() => void clients.refetch()} /> : null}
      {clients.isLoading ? <Skeleton rows={2} /> : null}
      {clients.data?.length === 0 ? (
        <Empty title="You have no clients">
          {agents.length ? (
            "Make one for a service that speaks OAuth. For anything else a key is simpler."
          ) : (
            <>
              A client acts as an agent, and you have none yet.{" "}
              <Link to="/welcome" className="text-accent underline">
                Make an agent first
              </Link>
              .
            </>
          )}
        </Empty>
      ) : null}
      {clients.data?.length ? <DataTable label="Your clients" columns={columns} rows={clients.data} keyOf={(one) => one.client_id} /> : null}
      {isMaking ? <NewClient agents={agents} onClose={() => setMaking(false)} /> : null}
      {deleting ? (
        <Confirm
          title={`Delete ${deleting.name}?`}
          action="Delete"
          onClose={() => setDeleting(null)}
          onConfirm={async () => {
            await ok(api.DELETE("/api/oauth/clients/{client_id}", { params: { path: { client_id: deleting.client_id } } }));
            await client.invalidateQueries({ queryKey: clientsQuery.queryKey });
            toast(`${deleting.name} is deleted.`);
          }}
        >
          <p>Its tokens and its secret stop working at once. This cannot be undone.</p>
        </Confirm>
      ) : null}
    </Section>
  );
}

function NewClient({ agents, onClose }: { agents: Agent[]; onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [agent, setAgent] = useState(agents[0]?.name ?? "");
  const [key] = useState(repeatKey);
  const make = useMutation({
    mutationFn: () =>
      ok(api.POST("/api/oauth/clients", { params: { header: { "Idempotency-Key": key } }, body: { name: name.trim(), agent } })),
    onSuccess: () => void client.invalidateQueries({ queryKey: clientsQuery.queryKey }),
  });
  if (make.data) {
    return (
      <Dialog title={`The client “${make.data.client.name}”`} onClose={onClose} isKept isWide>
        <div className="flex flex-col gap-4">
          <CopyField title="Client id" text={make.data.client.client_id} />
          <SecretOnce label="Client secret" secret={make.data.client_secret} />
          <div className="flex justify-end">
            <Button size="form" look="filled" onClick={onClose}>
              I have saved it
            </Button>
          </div>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="New client" onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <TextField label="Name" required autoFocus maxLength={100} value={name} onChange={setName} error={fieldError(make.error, "name")} />
        <SelectField label="Agent" hint="Who acts with its tokens." value={agent} onChange={setAgent} error={fieldError(make.error, "agent")}>
          {agents.map((one) => (
            <option key={one.name}>{one.name}</option>
          ))}
        </SelectField>
        <FormError error={make.error} shown={["name", "agent"]} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button size="form" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" size="form" look="filled" disabled={make.isPending}>
            Create the client
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
