import type { Delivery } from "../../api/webhooks";
import { Badge } from "../../ui/Badge";
import { MOST_OF_LINE, Shown } from "../../ui/Shown";
import { Time } from "../../ui/Time";
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

/** What the receiver answered at last. `isShort` is for lists with little room: the number of a status is enough. */
export function Answer({ delivery, isShort }: { delivery: Delivery; isShort?: boolean }) {
  const last = delivery.attempts.at(-1);
  if (delivery.status === "suppressed_loop") return <span className="text-muted">depth {delivery.depth}</span>;
  if (!last) return <span className="text-muted">none</span>;
  return (
    <span className={COLOURS[delivery.status]}>
      {isShort && last.status ? last.status : <Shown text={answerOf(last)} most={MOST_OF_LINE} />}
      {!isShort && delivery.status === "pending" && delivery.next_attempt_at ? (
        <>
          , again at <Time at={delivery.next_attempt_at} as="second" />
        </>
      ) : null}
    </span>
  );
}
