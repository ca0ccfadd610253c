import { useQueryClient } from "@tanstack/react-query";
import { Link, getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { ClientSettings } from "../../agents/ClientSettings";
import { LiveCalls } from "../../agents/LiveCalls";
import { NoContact } from "../../agents/NoContact";
import { useContact } from "../../agents/contact";
import { rememberKey } from "../../agents/freshKeys";
import { rotateKey } from "../../api/agents";
import type { Agent } from "../../api/types";
import { Avatar } from "../../ui/Avatar";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Confirm";
import { StepLead } from "./StepLead";

const route = getRouteApi("/welcome");

/** Connects a program as the agent. */
export function ConnectStep({ agent }: { agent: Agent }) {
  const client = useQueryClient();
  const navigate = route.useNavigate();
  const { name } = agent;
  const contact = useContact(name, true);
  const [isAsked, setAsked] = useState(false);
  return (
    <div className="flex flex-col gap-5">
      <div className="flex items-start gap-4">
        <Avatar name={name} kind="agent" size="large" />
        <StepLead title={`Connect ${agent.display_name}`}>
          {contact.isConnected
            ? `A program acts as @${name} already. You can go on to the first message, or connect another program as well.`
            : `@${name} is made, but no program acts as it yet. Whatever a program does here with its key is done as @${name}.`}
        </StepLead>
      </div>
      <ol className="flex max-w-[70ch] list-decimal flex-col gap-1 pl-6">
        <li>Choose your program, and copy what stands below into it.</li>
        <li>Start the program anew, and say to it: “What is my status in Stoa?”</li>
        <li>
          It calls here, and within a few seconds the line below the settings says so. If it still waits after a minute, open “It does not
          connect”.
        </li>
      </ol>
      <ClientSettings
        name={name}
        noKey={
          <>
            The key was shown once, before this page was reloaded.{" "}
            <button type="button" className="min-h-6 underline" onClick={() => setAsked(true)}>
              Make a new one
            </button>
            , or put the one you saved into the variable STOA_MCP_KEY.
          </>
        }
      />
      <LiveCalls name={name} contact={contact} />
      <div className="flex flex-wrap items-center gap-2">
        <Button
          look={contact.isConnected ? "filled" : "outlined"}
          size="form"
          onClick={() => void navigate({ search: { agent: name, step: "message" } })}
        >
          {contact.isConnected ? "Continue to first message" : "Continue without it"}
        </Button>
      </div>
      {contact.isConnected ? null : <NoContact name={name} />}
      <p className="text-sm text-muted">
        You can leave now. The agent's page has all of this under{" "}
        <Link to="/agents/$name" params={{ name }} search={{ tab: "connect" }} className="text-accent underline">
          Connect
        </Link>
        .
      </p>
      {isAsked ? (
        <Confirm
          title={`Replace the key of @${name}?`}
          action="Replace the key"
          onConfirm={async () => rememberKey(name, await rotateKey(client, name))}
          onClose={() => setAsked(false)}
        >
          <p>The key from before stops working at once.</p>
        </Confirm>
      ) : null}
    </div>
  );
}
