import { useQuery } from "@tanstack/react-query";

import { type Machine, type Registry, machinesQuery } from "../../api/admin";
import { Badge } from "../../ui/Badge";
import { type Column, DataTable } from "../../ui/DataTable";
import { Facts } from "../../ui/Facts";
import { Section } from "../../ui/Section";
import { Empty, Failed, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";

type Key = Machine["keys"][number];

const KEYS: Array<Column<Key>> = [
  { title: "Key", about: "Key id that the service sends with each signature", cell: (key) => <code className="font-mono text-sm">{key.kid}</code> },
  { title: "Status", cell: (key) => key.status },
  {
    title: "Usable",
    cell: (key) =>
      key.usable ? (
        <Badge colour="good" icon="✓">
          Usable
        </Badge>
      ) : (
        <span className="flex flex-col items-start gap-1">
          <Badge colour="bad" icon="✕">
            Not usable
          </Badge>
          <span className="text-sm">{key.reason}</span>
        </span>
      ),
  },
  { title: "Permissions", about: "What this key may do (its scopes)", cell: (key) => <span className="text-sm">{key.scopes.join(", ")}</span> },
  { title: "Fingerprint", about: "Hash of the public key, to compare with the service", cell: (key) => <code className="font-mono text-sm break-all">{key.fingerprint}</code> },
  { title: "Uses", isEnd: true, cell: (key) => key.uses.toLocaleString() },
  { title: "Last use", isEnd: true, cell: (key) => (key.last_used_at ? <Time at={key.last_used_at} /> : <span className="text-muted">never</span>) },
];

/** Services that sign their requests, and in what state their keys are. */
export function MachinesTab() {
  const machines = useQuery(machinesQuery);
  if (machines.isError) return <Failed error={machines.error} retry={() => void machines.refetch()} />;
  if (!machines.data) return <Skeleton />;
  const { registry } = machines.data;
  return (
    <>
      {registry ? <RegistryState registry={registry} /> : null}
      {machines.data.machines.length === 0 ? (
        <Empty title="No services yet">
          <p className="pb-2">
            A service signs its requests to the hub instead of logging in, for example a sensor or a scheduler. The API calls it a machine principal.
          </p>
          {registry?.configured
            ? "The registry lists none for this hub."
            : "To add one, set STOA_REGISTRY to a registry document and STOA_AUDIENCE to this hub's component."}
        </Empty>
      ) : null}
      {machines.data.machines.map((machine) => (
        <MachineSection key={machine.principal_id} machine={machine} />
      ))}
    </>
  );
}

function RegistryState({ registry }: { registry: Registry }) {
  return (
    <Section
      title="Registry"
      description="The file that lists the allowed services and their keys. Your operator maintains it; the hub reloads it when it changes."
    >
      <Facts
        items={[
          ["Configured", registry.configured ? "yes" : "no"],
          ["Audience", registry.audience ?? "none", "This hub's name in the registry"],
          ["Loaded", registry.loaded_at ? <Time key="loaded" at={registry.loaded_at} as="date" /> : "never"],
          ["Services", registry.principals, "Services that the registry lists for this hub"],
          ["Keys", `${registry.usable_keys} of ${registry.keys} usable`],
        ]}
      />
      <Notes title="The last reload failed" notes={registry.faults} colour="text-rejected" />
      <Notes title={`Warnings (${registry.warning_count})`} notes={registry.warnings} colour="text-amber" />
    </Section>
  );
}

function Notes({ title, notes, colour }: { title: string; notes: string[]; colour: string }) {
  return notes.length ? (
    <div>
      <h3 className={`font-medium ${colour}`}>{title}</h3>
      <ul className="list-disc pl-5">
        {notes.map((note) => (
          <li key={note} className="break-words">
            {note}
          </li>
        ))}
      </ul>
    </div>
  ) : null;
}

function MachineSection({ machine }: { machine: Machine }) {
  const refusals = Object.entries(machine.refusals);
  const state = !machine.registered ? "no longer in the registry" : machine.enabled ? "enabled" : "disabled";
  return (
    <Section
      title={machine.principal_id}
      description={
        <>
          {state}; last seen {machine.last_used_at ? <Time at={machine.last_used_at} /> : "never"}
          {machine.last_refused_at ? (
            <>
              , last rejected <Time at={machine.last_refused_at} />
            </>
          ) : null}
        </>
      }
    >
      <DataTable label={`Keys of ${machine.principal_id}`} columns={KEYS} rows={machine.keys} keyOf={(key) => key.kid} />
      <Facts
        items={[
          [
            "Refusals",
            refusals.length ? refusals.map(([reason, count]) => `${reason}: ${count}`).join(", ") : "none",
            "Rejected requests by reason",
          ],
          [
            "Components",
            machine.components.length
              ? machine.components.map((one) => `${one.component}: ${one.status}${one.stale ? " (stale)" : ""}`).join(", ")
              : "none",
            "Status that the service reports itself; stale = no report lately",
          ],
          [
            "Source configs",
            machine.source_configs.length ? machine.source_configs.map((one) => `${one.source}, version ${one.version}`).join("; ") : "none",
            "Which of the service's events become messages",
          ],
        ]}
      />
    </Section>
  );
}
