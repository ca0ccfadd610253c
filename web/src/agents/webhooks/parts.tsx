import type { Delivery } from "../../api/webhooks";
import { Badge } from "../../ui/Badge";
import { MOST_OF_LINE, Shown } from "../../ui/Shown";
import { answerOf, statusOf } from "./words";

export function StatusBadge({ delivery }: { delivery: Pick<Delivery, "status" | "attempts"> }) {
  const { word, icon, colour } = statusOf(delivery);
  return (
    <Badge colour={colour} icon={icon}>
      {word}
    </Badge>
  );
}

const COLOURS: Partial<Record<Delivery["status"], string>> = { pending: "text-amber", held: "text-amber", dead: "text-rejected" };

/** What the receiver answered at last. */
export function Answer({ delivery }: { delivery: Pick<Delivery, "status" | "attempts"> }) {
  const last = delivery.attempts.at(-1);
  if (!last) return <span className="text-muted">none</span>;
  return (
    <span className={COLOURS[delivery.status]}>
      <Shown text={answerOf(last)} most={MOST_OF_LINE} />
    </span>
  );
}
