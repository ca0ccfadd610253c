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
    { title: "Permissions", cell: (key) => <span className="block min-w-32">{summaryOf(key.permissions)}</span> },
    { title: "Channels", cell: (key) => <KeyChannels of={key} none="all" /> },
    { title: "Expires", cell: (key) => (key.expires_at ? <Time at={key.expires_at} /> : "never") },
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
        description="Additional keys with their own limits."
        action={
          <Button look="filled" onClick={() => setMaking(true)}>
            New key
          </Button>
        }
      >
        {keys.isError ? <Failed error={keys.error} retry={() => void keys.refetch()} /> : null}
        {keys.isLoading ? <Skeleton rows={2} /> : null}
        {keys.data?.length === 0 ? (
          <p className="text-muted">No managed keys yet. Create one per client so that you can revoke each one separately.</p>
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
            toast("Key revoked");
          }}
          onClose={() => setRevoked(null)}
        >
          <p>Anything using this key loses access immediately. This cannot be undone.</p>
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
      description="Full access as this agent. Never expires."
      action={<Button onClick={() => setAsked(true)}>Replace key</Button>}
    >
      <p className="text-muted">Shown only once. Lost or leaked? Replace it.</p>
      {isAsked ? (
        <Confirm
          title={`Replace @${name}'s key?`}
          action="Replace key"
          onConfirm={async () => {
            const key = await rotateKey(client, name);
            rememberKey(name, key);
            setMade(key);
          }}
          onClose={() => setAsked(false)}
        >
          <p>The old key stops working immediately. Clients that use it need the new key.</p>
        </Confirm>
      ) : null}
      {made ? (
        <KeyDialog title={`New key for @${name}`} secret={made} onClose={() => setMade(null)}>
          Until you leave this page, the Connect tab includes this key in the client settings.
        </KeyDialog>
      ) : null}
    </Section>
  );
}
