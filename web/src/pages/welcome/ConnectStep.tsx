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
            ? `@${name} is connected. Continue, or connect another client.`
            : `@${name} exists but nothing is connected yet. Any client that uses its key acts as @${name}.`}
        </StepLead>
      </div>
      <ol className="flex max-w-[70ch] list-decimal flex-col gap-1 pl-6">
        <li>Choose your client and copy the settings below into it.</li>
        <li>Restart the client and ask it: “What is my status in Stoa?”</li>
        <li>
          The status below changes to “connected” within seconds. If not, see Troubleshooting.
        </li>
      </ol>
      <ClientSettings
        name={name}
        noKey={
          <>
            The key was shown only once, before you reloaded this page.{" "}
            <button type="button" className="min-h-6 underline" onClick={() => setAsked(true)}>
              Create a new one
            </button>
            , or set the environment variable STOA_MCP_KEY to the key you saved.
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
          {contact.isConnected ? "Continue to first message" : "Skip for now"}
        </Button>
      </div>
      {contact.isConnected ? null : <NoContact name={name} />}
      <p className="text-sm text-muted">
        You can do this later: these settings are also on the agent's page, under{" "}
        <Link to="/agents/$name" params={{ name }} search={{ tab: "connect" }} className="text-accent underline">
          Connect
        </Link>
        .
      </p>
      {isAsked ? (
        <Confirm
          title={`Replace @${name}'s key?`}
          action="Replace key"
          onConfirm={async () => rememberKey(name, await rotateKey(client, name))}
          onClose={() => setAsked(false)}
        >
          <p>The old key stops working immediately.</p>
        </Confirm>
      ) : null}
    </div>
  );
}
