import { Link, getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { useContact } from "../../agents/contact";
import type { Agent } from "../../api/types";
import { Avatar } from "../../ui/Avatar";
import { Button } from "../../ui/Button";
import { Choice } from "../../ui/Choice";
import { ClientWay } from "./ClientWay";
import { CommandWay } from "./CommandWay";
import { LaterWay } from "./LaterWay";
import { StepLead } from "./StepLead";
import { WAYS, type WelcomeWay, hasCommand, isElsewhere } from "./ways";

const route = getRouteApi("/welcome");

/** Chooses how the agent reads its messages: by a client, by a command that Stoa starts, or not yet. */
export function ConnectStep({ agent }: { agent: Agent }) {
  const navigate = route.useNavigate();
  const { name } = agent;
  const contact = useContact(name, true);
  const [way, setWay] = useState<WelcomeWay>(hasCommand(agent) ? "command" : "client");
  const isStarted = hasCommand(agent);
  const isReady = isStarted || way === "later" || contact.isConnected;
  return (
    <div className="flex flex-col gap-5">
      <div className="flex items-start gap-4">
        <Avatar name={name} kind="agent" size="large" />
        <StepLead title={`Connect ${agent.display_name}`}>{stateOf(agent, contact.isConnected)}</StepLead>
      </div>
      <Choice label={`How does @${name} read its messages?`} value={way} onChange={setWay} options={WAYS} hint={WAYS.find(({ value }) => value === way)?.hint} />
      {way === "client" ? <ClientWay name={name} contact={contact} /> : null}
      {way === "command" ? <CommandWay agent={agent} /> : null}
      {way === "later" && !isStarted ? <LaterWay name={name} /> : null}
      {way !== "command" && isStarted ? (
        <p className="text-amber">
          Messages still {isElsewhere(agent) ? "call the webhook" : "start the command"} of @{name}. To change that, choose “Wait in the inbox” on{" "}
          <Link to="/agents/$name" params={{ name }} search={{ tab: "runs" }} className="underline">
            its page
          </Link>
          .
        </p>
      ) : null}
      <div className="flex flex-wrap items-center gap-3">
        <Button
          look={isReady ? "filled" : "outlined"}
          size="form"
          onClick={() => void navigate({ search: { agent: name, step: "message" } })}
        >
          {isReady ? "Continue to first message" : "Continue without connecting"}
        </Button>
        {isReady ? null : <span className="text-muted">You can come back to this step at any time.</span>}
      </div>
    </div>
  );
}

/** What is true of the agent now. */
function stateOf(agent: Agent, isConnected: boolean): string {
  if (hasCommand(agent)) return `@${agent.name} is ready: a message ${isElsewhere(agent) ? "calls its webhook" : "starts its command"}.`;
  if (isConnected) return `@${agent.name} is connected. Continue, or connect another client.`;
  return `@${agent.name} has been created. Nothing reads its messages yet: choose what should.`;
}
