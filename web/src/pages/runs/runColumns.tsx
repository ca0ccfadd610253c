import type { Run } from "../../api/runs";
import { RunButton } from "../../runs/RunButtons";
import { RunLink } from "../../runs/RunLink";
import { TriggerText } from "../../runs/TriggerText";
import { ListedStatus, RunTime } from "../../runs/parts";
import { costWords, tokenWords } from "../../runs/words";
import type { Column } from "../../ui/DataTable";
import { AgentName } from "../../ui/Names";
import { Time } from "../../ui/Time";

/** The columns of the table of runs. */
export function runColumns(): Array<Column<Run>> {
  return [
    { title: "Status", cell: (run) => <ListedStatus run={run} /> },
    {
      title: "Run",
      cell: ({ id }) => <RunLink id={id} label={String(id)} />,
    },
    {
      title: "Agent",
      isWideOnly: true,
      // A click on the link opens the agent and not the run.
      cell: (run) => (
        <span onClick={(event) => event.stopPropagation()}>
          <AgentName name={run.agent} />
        </span>
      ),
    },
    { title: "Started by", cell: (run) => <TriggerText run={run} /> },
    { title: "Created", isEnd: true, isWideOnly: true, cell: (run) => <Time at={run.created_at} as="age" /> },
    { title: "Time", isEnd: true, isWideOnly: true, cell: (run) => <RunTime run={run} /> },
    {
      title: "Tokens",
      isEnd: true,
      isWideOnly: true,
      cell: ({ tokens }) => <span className="text-muted tabular-nums">{tokens === null || tokens === undefined ? "–" : tokenWords(tokens)}</span>,
    },
    {
      title: "Cost",
      isEnd: true,
      isWideOnly: true,
      cell: ({ cost_usd }) => <span className="tabular-nums">{cost_usd === null || cost_usd === undefined ? "–" : costWords(cost_usd)}</span>,
    },
    {
      title: "Actions",
      isTitleHidden: true,
      isEnd: true,
      // On a phone, the page of the run has them.
      isWideOnly: true,
      cell: (run) => (
        <span onClick={(event) => event.stopPropagation()}>
          <RunButton key={run.status} run={run} />
        </span>
      ),
    },
  ];
}
