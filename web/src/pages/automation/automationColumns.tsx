import type { AutomationItem } from "../../api/automation";
import { RunLink } from "../../runs/RunLink";
import { Badge } from "../../ui/Badge";
import type { Column } from "../../ui/DataTable";
import { AgentName } from "../../ui/Names";
import { Shown } from "../../ui/Shown";
import { KINDS } from "./words";

const MOST_OF_NAME = 80;

/** The columns of what may start by itself. */
export const automationColumns: Array<Column<AutomationItem>> = [
  { title: "Kind", width: "w-36", cell: ({ kind }) => KINDS[kind] },
  {
    title: "Name",
    cell: ({ name }) => (
      <span className="[overflow-wrap:anywhere]">
        <Shown text={name} most={MOST_OF_NAME} />
      </span>
    ),
  },
  { title: "Agent", width: "w-40", isWideOnly: true, cell: ({ agent }) => (agent ? <AgentName name={agent} /> : <span className="text-muted">none</span>) },
  {
    title: "State",
    width: "w-24",
    cell: ({ is_on }) => (is_on ? <Badge colour="good" icon="✓">On</Badge> : <Badge icon="○">Off</Badge>),
  },
  { title: "Waiting", width: "w-24", isEnd: true, isWideOnly: true, cell: ({ waiting }) => waiting.toLocaleString() },
  {
    title: "Run",
    width: "w-20",
    isEnd: true,
    cell: ({ run_id }) => (run_id ? <RunLink id={run_id} label={String(run_id)} /> : null),
  },
];
