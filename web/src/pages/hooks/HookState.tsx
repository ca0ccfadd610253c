import { CircleCheck, CirclePause, TriangleAlert } from "lucide-react";

import type { Hook } from "../../api/hooks";
import { Badge } from "../../ui/Badge";

/** Whether a hook takes requests, always as picture and word. */
export function HookState({ hook }: { hook: Hook }) {
  if (!hook.enabled) return <Badge icon={<CirclePause size={12} />}>Disabled</Badge>;
  if (hook.target_deleted) {
    return (
      <Badge colour="bad" icon={<TriangleAlert size={12} />}>
        No target
      </Badge>
    );
  }
  return (
    <Badge colour="good" icon={<CircleCheck size={12} />}>
      Enabled
    </Badge>
  );
}
