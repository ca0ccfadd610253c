import { ArrowLeftRight, Check, CheckCheck, CircleHelp, CirclePause, CircleX, Clock, type LucideIcon, RotateCw, TriangleAlert } from "lucide-react";

import type { Delivery } from "../../api/webhooks";
import { Badge } from "../../ui/Badge";
import { MOST_OF_LINE, Shown } from "../../ui/Shown";
import { Time } from "../../ui/Time";
import { type IconName, type Words, answerOf, statusOf } from "./words";

const ICONS: Record<IconName, LucideIcon> = {
  check: Check,
  checks: CheckCheck,
  cross: CircleX,
  loop: ArrowLeftRight,
  pause: CirclePause,
  question: CircleHelp,
  retry: RotateCw,
  wait: Clock,
  warning: TriangleAlert,
};

/** A state in a word, with its picture and colour. */
export function WordBadge({ words: { word, icon, colour } }: { words: Words }) {
  const Icon = ICONS[icon];
  return (
    <Badge colour={colour} icon={<Icon size={12} />}>
      {word}
    </Badge>
  );
}

export function StatusBadge({ delivery }: { delivery: Pick<Delivery, "status" | "attempts"> }) {
  return <WordBadge words={statusOf(delivery)} />;
}

const COLOURS: Partial<Record<Delivery["status"], string>> = { pending: "text-amber", held: "text-amber", dead: "text-rejected" };

/** The last answer of the receiver. `isShort` is for lists with little room: the number of the status is enough. */
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
