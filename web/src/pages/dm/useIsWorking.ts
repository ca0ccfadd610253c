import { useQuery } from "@tanstack/react-query";

import { presencesQuery } from "../../api/presences";
import { conversationQuery } from "../../api/queries";
import type { Agent } from "../../api/types";

/**
 * Whether an agent that reads its inbox by itself works on something. The conversation says it at once for the person's own messages. For all
 * other work, the presence follows a moment later.
 */
export function useIsWorking({ name, trigger_mode }: Agent): boolean {
  const enabled = trigger_mode === "passive";
  const isClaimed = useQuery({
    ...conversationQuery({ kind: "dm", name }),
    enabled,
    select: ({ items }) => items.some(({ to, status, deleted_at }) => to === name && status === "processing" && !deleted_at),
  }).data;
  const isBusy = useQuery({ ...presencesQuery, enabled, select: (all) => all.get(name) === "working" }).data;
  return enabled && (isClaimed === true || isBusy === true);
}
