import { useQuery } from "@tanstack/react-query";

import { trustQuery } from "../../api/trust";
import type { Message } from "../../api/types";
import { effectOf } from "../../workflow/trust";

/** How a decision changes the trust in the author. Loaded only for the open row. */
export function TrustEffect({ message }: { message: Message }) {
  const trust = useQuery(trustQuery(message.from.name));
  if (!trust.data) return null;
  const { kind, now, approved, rejected } = effectOf(message, trust.data);
  return (
    <span>
      Approving raises {message.from.name}’s trust for <code className="font-mono">{kind}</code> from {now.toFixed(2)} to{" "}
      {approved.toFixed(2)}, rejecting lowers it to {rejected.toFixed(2)}.
    </span>
  );
}
