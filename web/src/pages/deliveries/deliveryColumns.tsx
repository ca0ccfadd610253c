import { Answer, StatusBadge } from "../../agents/webhooks/parts";
import { shortAddress } from "../../agents/webhooks/words";
import type { Delivery } from "../../api/webhooks";
import type { Column } from "../../ui/DataTable";
import { AgentName } from "../../ui/Names";
import { Shown } from "../../ui/Shown";
import { Time } from "../../ui/Time";

const MOST_OF_URL = 60;

/** The columns of the table of deliveries. A click on the event opens the delivery. */
export function deliveryColumns(peek: (delivery: Delivery) => void): Array<Column<Delivery>> {
  return [
    { title: "Status", width: "w-32", cell: (delivery) => <StatusBadge delivery={delivery} /> },
    {
      title: "Event",
      width: "w-48",
      cell: (delivery) => (
        <button
          type="button"
          className="min-h-6 text-left font-mono text-sm text-accent hover:underline"
          onClick={(event) => {
            event.stopPropagation();
            peek(delivery);
          }}
        >
          {delivery.event}
        </button>
      ),
    },
    {
      title: "Agent",
      width: "w-32",
      isWideOnly: true,
      // A click on the link opens the agent and not the delivery.
      cell: (delivery) => (
        <span onClick={(event) => event.stopPropagation()}>
          <AgentName name={delivery.agent} />
        </span>
      ),
    },
    {
      title: "Address",
      isWideOnly: true,
      cell: (delivery) => (
        <span className="block max-w-44 truncate text-muted">
          <Shown text={shortAddress(delivery.url)} most={MOST_OF_URL} />
        </span>
      ),
    },
    { title: "Response", width: "w-28", isWideOnly: true, cell: (delivery) => <Answer delivery={delivery} isShort /> },
    { title: "Attempts", width: "w-20", isEnd: true, isWideOnly: true, cell: ({ attempts }) => attempts.length },
    { title: "When", width: "w-28", isEnd: true, cell: ({ created_at }) => <Time at={created_at} as="age" /> },
  ];
}
