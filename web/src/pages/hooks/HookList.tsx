import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import type { Hook } from "../../api/hooks";
import { Button } from "../../ui/Button";
import { type Column, DataTable } from "../../ui/DataTable";
import { Section } from "../../ui/Section";
import { MOST_OF_LINE, Shown } from "../../ui/Shown";
import { Empty } from "../../ui/States";
import { Time } from "../../ui/Time";
import { lazyPart } from "../../ui/lazyPart";
import { HookState } from "./HookState";
import { HookTarget } from "./HookTarget";
import { KINDS } from "./words";

const NewHookDialog = lazyPart(() => import("./NewHookDialog").then((part) => part.NewHookDialog));

const COLUMNS: Array<Column<Hook>> = [
  {
    title: "Name",
    cell: (hook) => (
      <Link
        to="/settings/hooks"
        search={{ hook: hook.id }}
        className="inline-flex min-h-6 items-center font-medium break-words hover:underline pointer-coarse:min-h-11"
      >
        <Shown text={hook.name} most={MOST_OF_LINE} />
      </Link>
    ),
  },
  { title: "Kind", isWideOnly: true, cell: (hook) => KINDS[hook.kind].label },
  { title: "Posts to", cell: (hook) => <HookTarget hook={hook} /> },
  { title: "State", cell: (hook) => <HookState hook={hook} /> },
  {
    title: "Last request",
    isEnd: true,
    cell: (hook) => (hook.last_request_at ? <Time at={hook.last_request_at} /> : <span className="text-muted">never</span>),
  },
];

/** All hooks of the person. */
export function HookList({ hooks }: { hooks: Hook[] }) {
  const navigate = useNavigate();
  const [isCreating, setCreating] = useState(false);
  return (
    <Section
      title="Hooks"
      description="A hook turns requests from another service into messages to a channel or an agent. It can post wherever you can post."
      action={
        <Button look="filled" onClick={() => setCreating(true)}>
          New hook
        </Button>
      }
    >
      {hooks.length === 0 ? (
        <Empty title="No hooks yet">
          <p>Your hooks appear here. Create one for each service, for example GitHub or a monitoring tool, with “New hook”.</p>
        </Empty>
      ) : (
        <DataTable label="Hooks" columns={COLUMNS} rows={hooks} keyOf={(hook) => hook.id} />
      )}
      {isCreating ? (
        <NewHookDialog
          onClose={(created) => {
            setCreating(false);
            // The list of its requests shows whether the other service reaches it.
            if (created) void navigate({ to: "/settings/hooks", search: { hook: created.id } });
          }}
        />
      ) : null}
    </Section>
  );
}
