import type { Hook } from "../../api/hooks";
import { AgentName, ChannelNames } from "../../ui/Names";

/** The channel or agent that a hook posts to. */
export function HookTarget({ hook: { target, target_deleted: isDeleted } }: { hook: Hook }) {
  if (isDeleted) return <span className="text-rejected">{target.channel ? `#${target.channel}` : `@${target.agent}`} (deleted)</span>;
  return target.channel ? <ChannelNames names={[target.channel]} /> : <AgentName name={target.agent ?? ""} />;
}
