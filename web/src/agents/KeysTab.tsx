import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { type ApiKey, keysOfAgentQuery, rotateKey } from "../api/agents";
import { api, ok } from "../api/client";
import { Badge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { Confirm } from "../ui/Confirm";
import { type Column, DataTable } from "../ui/DataTable";
import { KeyChannels } from "../ui/Names";
import { Section } from "../ui/Section";
import { Failed, Skeleton } from "../ui/States";
import { Time } from "../ui/Time";
import { toast } from "../ui/Toasts";
import { KeyDialog } from "./KeyDialog";
import { NewKeyDialog } from "./NewKeyDialog";
import { rememberKey } from "./freshKeys";
import { keyState, summaryOf } from "./keys";

const COLOURS = { active: "good", revoked: "bad", expired: "warning" } as const;

/** What a program can prove with that it is this agent. */
export function KeysTab({ name }: { name: string }) {
  const client = useQueryClient();
  const keys = useQuery(keysOfAgentQuery(name));
  const [isMaking, setMaking] = useState(false);
  const [revoked, setRevoked] = useState<ApiKey | null>(null);
  const columns: Array<Column<ApiKey>> = [
    { title: "Name", cell: (key) => <span className="font-medium">{key.name}</span> },
    { title: "State", cell: (key) => <Badge colour={COLOURS[keyState(key)]}>{keyState(key)}</Badge> },
    { title: "May", cell: (key) => <span className="block min-w-32">{summaryOf(key.permissions)}</span> },
    { title: "Channels", cell: (key) => <KeyChannels of={key} none="all" /> },
    { title: "Ends", cell: (key) => (key.expires_at ? <Time at={key.expires_at} /> : "never") },
    { title: "Last used", cell: (key) => (key.last_used_at ? <Time at={key.last_used_at} /> : <span className="text-muted">never</span>) },
    {
      title: "Actions",
      isTitleHidden: true,
      isEnd: true,
      cell: (key) =>
        key.status === "active" ? (
          <Button size="row" look="danger" aria-label={`Revoke ${key.name}`} onClick={() => setRevoked(key)}>
            Revoke
          </Button>
        ) : null,
    },
  ];
  return (
    <>
      <AgentKey name={name} />
      <Section
        title="Managed keys"
        description="More keys for this agent, each with its own limits. Revoking one leaves the others alone."
        action={
          <Button look="filled" onClick={() => setMaking(true)}>
            New key
          </Button>
        }
      >
        {keys.isError ? <Failed error={keys.error} retry={() => void keys.refetch()} /> : null}
        {keys.isLoading ? <Skeleton rows={2} /> : null}
        {keys.data?.length === 0 ? (
          <p className="text-muted">None yet. Make one for each program, so that you can revoke it for that program alone.</p>
        ) : null}
        {keys.data?.length ? <DataTable label="List of managed keys" columns={columns} rows={keys.data} keyOf={(key) => key.id} /> : null}
      </Section>
      {isMaking ? <NewKeyDialog agent={name} onClose={() => setMaking(false)} /> : null}
      {revoked ? (
        <Confirm
          title={`Revoke “${revoked.name}”?`}
          action="Revoke key"
          onConfirm={async () => {
            await ok(api.DELETE("/api/keys/{id}", { params: { path: { id: revoked.id } } }));
            await client.invalidateQueries({ queryKey: ["keys"] });
            toast("The key is revoked.");
          }}
          onClose={() => setRevoked(null)}
        >
          <p>Whatever uses it is shut out at once. This cannot be undone.</p>
        </Confirm>
      ) : null}
    </>
  );
}

/** The agent's own key: there is one, which may do everything. */
function AgentKey({ name }: { name: string }) {
  const client = useQueryClient();
  const [isAsked, setAsked] = useState(false);
  const [made, setMade] = useState<string | null>(null);
  return (
    <Section
      title="Agent key"
      description="The agent's own key. It can do everything the agent can, and never expires."
      action={<Button onClick={() => setAsked(true)}>Replace the key</Button>}
    >
      <p className="text-muted">It was shown once, when it was made. If you lost it, or somebody else knows it, replace it.</p>
      {isAsked ? (
        <Confirm
          title={`Replace the key of @${name}?`}
          action="Replace the key"
          onConfirm={async () => {
            const key = await rotateKey(client, name);
            rememberKey(name, key);
            setMade(key);
          }}
          onClose={() => setAsked(false)}
        >
          <p>The current key stops working at once. Clients that use it are shut out until they have the new one.</p>
        </Confirm>
      ) : null}
      {made ? (
        <KeyDialog title={`New key of @${name}`} secret={made} onClose={() => setMade(null)}>
          The Connect tab fills it into a client's settings, as long as this page is open.
        </KeyDialog>
      ) : null}
    </Section>
  );
}
