import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { OauthClient } from "../../api/account";
import { allClientsQuery } from "../../api/admin";
import { Button } from "../../ui/Button";
import { CommandLine } from "../../ui/CommandLine";
import { type Column, DataTable } from "../../ui/DataTable";
import { Dialog } from "../../ui/Dialog";
import { Facts } from "../../ui/Facts";
import { AgentName, PersonName } from "../../ui/Names";
import { Section } from "../../ui/Section";
import { Empty, Failed, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";

const KINDS: Record<OauthClient["kind"], string> = {
  owned: "created by its owner",
  registered: "self-registered",
  document: "metadata document",
};

/** The programs of everybody that can ask for tokens. */
export function ClientsTab() {
  const clients = useQuery(allClientsQuery);
  const [shown, setShown] = useState<OauthClient | null>(null);
  const columns: Array<Column<OauthClient>> = [
    { title: "App", cell: (one) => <span className="font-medium">{one.name}</span> },
    { title: "Kind", cell: (one) => KINDS[one.kind] },
    { title: "Owner", cell: (one) => one.owner ? <PersonName name={one.owner} /> : <span className="text-muted">nobody</span> },
    { title: "Agent", cell: (one) => (one.agent ? <AgentName name={one.agent} /> : "") },
    { title: "Users", about: "How many authorizations users have given.", isEnd: true, cell: (one) => one.grants },
    { title: "Last use", cell: (one) => (one.last_used_at ? <Time at={one.last_used_at} /> : <span className="text-muted">never</span>) },
    {
      title: "Actions",
      isTitleHidden: true,
      isEnd: true,
      cell: (one) => (
        <Button size="row" aria-label={`Details of ${one.name}`} onClick={() => setShown(one)}>
          Details
        </Button>
      ),
    },
  ];
  return (
    <Section title="Apps" description="Apps (OAuth clients) that users can authorize. An authorized app acts as the user or as one of their agents. Delete apps with a command.">
      {clients.isError ? <Failed error={clients.error} retry={() => void clients.refetch()} /> : null}
      {clients.isLoading ? <Skeleton rows={3} /> : null}
      {clients.data?.length === 0 ? (
        <Empty title="No apps yet">Apps appear here when they register, or when a user creates one in Settings → Apps.</Empty>
      ) : null}
      {clients.data?.length ? <DataTable label="Apps" columns={columns} rows={clients.data} keyOf={(one) => one.client_id} /> : null}
      {shown ? (
        <Dialog title={shown.name} onClose={() => setShown(null)} isWide>
          <div className="flex flex-col gap-4">
            <Facts
              items={[
                ["Client id", <code key="id" className="font-mono text-sm break-all">{shown.client_id}</code>],
                ["Kind", KINDS[shown.kind]],
                ["Authenticates with", shown.auth_method, "Client authentication method (none = public client)"],
                ["Grant types", shown.grant_types.join(", "), "Ways to get a token"],
                ["Permissions", shown.scope ?? "as requested", "The most that the app can ask for (its scope)"],
                ["Redirects to", shown.redirect_uris.length ? shown.redirect_uris.join(", ") : "nowhere", "Where users return after they authorize the client"],
                ["Introspects all tokens", shown.introspects_all ? "yes" : "no", "May introspect other clients' tokens"],
                ["Created", <Time key="made" at={shown.created_at} as="date" />],
              ]}
            />
            <CommandLine does="Delete the client and its tokens" command={`stoa admin oauth clients delete ${shown.client_id}`} />
          </div>
        </Dialog>
      ) : null}
    </Section>
  );
}
