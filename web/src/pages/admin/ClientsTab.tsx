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
  owned: "made by its owner",
  registered: "registered itself",
  document: "known by its document",
};

/** The programs of everybody that can ask for tokens. */
export function ClientsTab() {
  const clients = useQuery(allClientsQuery);
  const [shown, setShown] = useState<OauthClient | null>(null);
  const columns: Array<Column<OauthClient>> = [
    { title: "Client", cell: (one) => <span className="font-medium">{one.name}</span> },
    { title: "Kind", cell: (one) => KINDS[one.kind] },
    { title: "Owner", cell: (one) => one.owner ? <PersonName name={one.owner} /> : <span className="text-muted">nobody</span> },
    { title: "Agent", cell: (one) => (one.agent ? <AgentName name={one.agent} /> : "") },
    { title: "Grants", about: "Each grant is one permission that somebody has given it.", isEnd: true, cell: (one) => one.grants },
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
    <Section title="OAuth clients" description="Programs that people can let in with their login (OAuth), instead of giving them a key. Whoever lets one in allows it to act as them, or as one of their agents. Delete them with a command.">
      {clients.isError ? <Failed error={clients.error} retry={() => void clients.refetch()} /> : null}
      {clients.isLoading ? <Skeleton rows={3} /> : null}
      {clients.data?.length === 0 ? (
        <Empty title="There are no clients">They appear when an MCP client connects, or when somebody makes one in their settings.</Empty>
      ) : null}
      {clients.data?.length ? <DataTable label="OAuth clients" columns={columns} rows={clients.data} keyOf={(one) => one.client_id} /> : null}
      {shown ? (
        <Dialog title={shown.name} onClose={() => setShown(null)} isWide>
          <div className="flex flex-col gap-4">
            <Facts
              items={[
                ["Client id", <code key="id" className="font-mono text-sm break-all">{shown.client_id}</code>],
                ["Kind", KINDS[shown.kind]],
                ["Authenticates with", shown.auth_method, "How the program proves that it is this one. None: it has no secret, as programs on a laptop or phone."],
                ["Grant types", shown.grant_types.join(", "), "The ways in which it can get a token."],
                ["Scope", shown.scope ?? "as asked", "What it may do at most."],
                ["Redirects to", shown.redirect_uris.length ? shown.redirect_uris.join(", ") : "nowhere", "Where people are sent back to after they have let it in."],
                ["Asks about all tokens", shown.introspects_all ? "yes" : "no", "Whether it may ask the hub if a token is good that another program has."],
                ["Created", <Time key="made" at={shown.created_at} as="date" />],
              ]}
            />
            <CommandLine does="Delete it, and with it all its tokens" command={`stoa admin oauth clients delete ${shown.client_id}`} />
          </div>
        </Dialog>
      ) : null}
    </Section>
  );
}
