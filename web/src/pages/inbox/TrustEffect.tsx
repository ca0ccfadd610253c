import { useQuery } from "@tanstack/react-query";

import { trustQuery } from "../../api/trust";
import type { Message } from "../../api/types";
import { effectOf } from "../../workflow/trust";

/** How a decision changes the trust in the author. Loaded only for the open row. */
export function TrustEffect({ message }: { message: Message }) {
  const trust = useQuery(trustQuery(message.from.name));
  if (!trust.data) return null;
  const { kind, now, approved, rejected } = effectOf(message, trust.data);
  const whose = `${message.from.name}’s trust for`;
  const shownKind = <code className="font-mono">{kind}</code>;
  return (
    <span>
      {now === approved ? (
        <>
          Approving leaves {whose} {shownKind} at {now.toFixed(2)}
        </>
      ) : (
        <>
          Approving raises {whose} {shownKind} from {now.toFixed(2)} to {approved.toFixed(2)}
        </>
      )}
      , rejecting {now === rejected ? "leaves it at" : "lowers it to"} {rejected.toFixed(2)}.
    </span>
  );
}
