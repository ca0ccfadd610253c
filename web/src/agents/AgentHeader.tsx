import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { FlaskConical, MessageSquare, Pause, Pencil, Play } from "lucide-react";
import { type ReactNode, useState } from "react";

import { deleteAgent, pauseAgent, presenceQuery, resumeAgent } from "../api/agents";
import { sentenceOf } from "../api/problem";
import type { Agent } from "../api/types";
import AgentNow from "../runs/AgentNow";
import { Avatar } from "../ui/Avatar";
import { Button, IconButton } from "../ui/Button";
import { Confirm } from "../ui/Confirm";
import { PersonName } from "../ui/Names";
import { Time } from "../ui/Time";
import { toast } from "../ui/Toasts";
import { AgentMenu } from "./AgentMenu";
import { AgentStatus } from "./AgentStatus";
import { HowItWorks } from "./HowItWorks";
import { LiftQuarantine } from "./LiftQuarantine";
import { RenameForm } from "./RenameForm";
import { StopRun } from "./StopRun";
import { TRY_IT } from "./tabs";

const LINK = "inline-flex h-7 items-center gap-1.5 rounded-md border border-line bg-bg px-2.5 font-medium hover:bg-panel pointer-coarse:h-11";

type Asked = "delete" | "unquarantine" | null;

/** The name and the state of an agent, and the actions on the whole agent. */
export function AgentHeader({ agent, title }: { agent: Agent; title: ReactNode }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const presence = useQuery(presenceQuery(agent.name)).data;
  const [isRenaming, setRenaming] = useState(false);
  const [asked, setAsked] = useState<Asked>(null);
  const { name } = agent;
  const pause = async () => {
    try {
      await pauseAgent(client, name);
      toast(`@${name} paused`, { undo: () => void resume() });
    } catch (error) {
      toast(sentenceOf(error), { isError: true });
    }
  };
  const resume = async () => {
    try {
      await resumeAgent(client, name);
      toast(`@${name} resumed`);
    } catch (error) {
      toast(sentenceOf(error), { isError: true });
    }
  };
  return (
    <header className="flex shrink-0 flex-wrap items-center gap-x-4 gap-y-2 px-6 pt-4 pb-2 max-md:pt-1 max-md:pr-4 max-md:pl-14">
      {/* On a phone the menu button takes its place. */}
      <div className="max-md:hidden">
        <Avatar name={name} kind="agent" size="large" />
      </div>
      <div className="min-w-0 flex-1 basis-48">
        <div className="flex min-h-8 flex-wrap items-center gap-x-2 max-md:min-h-10">
          <div className={isRenaming ? "sr-only" : "max-w-[calc(100%-3.25rem)] min-w-0"}>{title}</div>
          {isRenaming ? (
            <RenameForm agent={agent} onClose={() => setRenaming(false)} />
          ) : (
            <IconButton label="Edit display name" className="shrink-0" onClick={() => setRenaming(true)}>
              <Pencil size={14} />
            </IconButton>
          )}
          <AgentStatus agent={agent} />
          {agent.trigger_mode === "reactive" ? <AgentNow name={name} /> : null}
        </div>
        <p className="[overflow-wrap:anywhere] text-muted">
          @{name} · {agent.archetype} · owned by <PersonName name={agent.owner} /> ·{" "}
          {presence?.isOnline ? (
            "online"
          ) : agent.last_seen_at ? (
            <>
              last seen <Time at={agent.last_seen_at} />
            </>
          ) : (
            "never seen"
          )}
        </p>
        <HowItWorks agent={agent} />
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <Link
          to="/dm/$name"
          params={{ name }}
          className={LINK}
        >
          <MessageSquare size={14} aria-hidden="true" className="max-md:hidden" />
          Message
        </Link>
        {agent.trigger_mode === "reactive" ? (
          <>
            <Link to="/agents/$name" params={{ name }} search={{ tab: "runs" }} hash={TRY_IT} className={LINK}>
              <FlaskConical size={14} aria-hidden="true" className="max-md:hidden" />
              Try it
            </Link>
            <StopRun name={name} />
          </>
        ) : null}
        {agent.paused_at ? (
          <Button onClick={() => void resume()}>
            <Play size={14} aria-hidden="true" className="max-md:hidden" />
            Resume
          </Button>
        ) : (
          <Button onClick={() => void pause()}>
            <Pause size={14} aria-hidden="true" className="max-md:hidden" />
            Pause
          </Button>
        )}
        <AgentMenu agent={agent} onUnquarantine={() => setAsked("unquarantine")} onDelete={() => setAsked("delete")} />
      </div>
      {asked === "unquarantine" ? <LiftQuarantine agent={agent} onClose={() => setAsked(null)} /> : null}
      {asked === "delete" ? (
        <Confirm
          title={`Delete @${name}?`}
          action="Delete agent"
          typed={name}
          onConfirm={async () => {
            await deleteAgent(client, name);
            toast(`@${name} deleted`);
            await navigate({ to: "/agents" });
          }}
          onClose={() => setAsked(null)}
        >
          <p>Its keys stop working immediately and it leaves all channels. Its messages remain. This cannot be undone.</p>
        </Confirm>
      ) : null}
    </header>
  );
}
