import { useQuery } from "@tanstack/react-query";

import { healthQuery, systemQuery } from "../../api/admin";
import { bytes } from "../../lib/bytes";
import { useStore } from "../../lib/store";
import { build } from "../../shell/build";
import { Badge } from "../../ui/Badge";
import { type Column, DataTable } from "../../ui/DataTable";
import { Facts } from "../../ui/Facts";
import { Section } from "../../ui/Section";
import { Failed, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";

interface Listener {
  name: string;
  behind: number;
}

const LISTENERS: Array<Column<Listener>> = [
  { title: "Listener", cell: (listener) => listener.name },
  {
    title: "State",
    cell: (listener) =>
      listener.behind === 0 ? (
        <Badge colour="good" icon="✓">
          Up to date
        </Badge>
      ) : (
        <Badge colour="warning">Catching up</Badge>
      ),
  },
  { title: "Events behind", isEnd: true, cell: (listener) => listener.behind.toLocaleString() },
];

function Health({ isGood, word }: { isGood: boolean; word: string }) {
  return (
    <Badge colour={isGood ? "good" : "bad"} icon={isGood ? "✓" : "✕"}>
      {word}
    </Badge>
  );
}

/** How the hub is doing. */
export function SystemTab() {
  const system = useQuery(systemQuery);
  const health = useQuery(healthQuery).data;
  const page = useStore(build);
  if (system.isError) return <Failed error={system.error} retry={() => void system.refetch()} />;
  if (!system.data) return <Skeleton />;
  const now = system.data;
  return (
    <>
      <Section title="Health" description="Updated every 10 seconds.">
        <Facts
          items={[
            ["Up", health ? <Health key="up" {...health.alive} /> : "asking"],
            ["Ready to serve", health ? <Health key="ready" {...health.ready} /> : "asking"],
            ["Running since", <Time key="since" at={now.started_at} as="date" />],
            ["Queued writes", now.write_queue_length.toLocaleString(), "Queued database writes"],
            ["Users", now.users.toLocaleString()],
            ["Agents", now.agents.toLocaleString()],
            ["Address", now.base_url],
          ]}
        />
      </Section>
      <Section title="Versions">
        <Facts
          items={[
            ["Hub", now.version],
            ["This page", page.first ?? "in development"],
          ]}
        />
      </Section>
      <Section title="Database">
        <Facts
          items={[
            ["Engine", `${now.database.engine} ${now.database.engine_version}`],
            ["Schema", `version ${now.database.schema_version}`, "Version of the tables. The hub migrates them at startup."],
            ["Size", bytes(now.database.size_bytes)],
          ]}
        />
      </Section>
      <Section title="Listeners" description="Background workers and how many events each is behind.">
        {now.listeners.length ? (
          <DataTable label="Listeners" columns={LISTENERS} rows={now.listeners} keyOf={(listener) => listener.name} />
        ) : (
          <p className="text-muted">Not used on this hub.</p>
        )}
      </Section>
    </>
  );
}
