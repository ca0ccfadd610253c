import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { ClientSettings } from "../../agents/ClientSettings";
import { LiveCalls } from "../../agents/LiveCalls";
import { NoContact } from "../../agents/NoContact";
import type { Contact } from "../../agents/contact";
import { rememberKey } from "../../agents/freshKeys";
import { rotateKey } from "../../api/agents";
import { Confirm } from "../../ui/Confirm";

/** Connects a client as the agent, and shows whether it has connected. */
export function ClientWay({ name, contact }: { name: string; contact: Contact }) {
  const client = useQueryClient();
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      {contact.isConnected ? null : (
        <ol className="flex max-w-[70ch] list-decimal flex-col gap-1 pl-6">
          <li>Choose your client below and copy the settings into it.</li>
          <li>Restart the client and ask it: “What is my status in Stoa?”</li>
          <li>Watch the box at the end of this page: it says “connected” within seconds.</li>
        </ol>
      )}
      <ClientSettings
        name={name}
        noKey={
          <>
            This page no longer has the key: you have reloaded it, or the key was created elsewhere.{" "}
            <button type="button" className="min-h-6 underline" onClick={() => setAsked(true)}>
              Create a new one
            </button>
            , or set the environment variable STOA_MCP_KEY to the key you saved.
          </>
        }
      />
      <LiveCalls name={name} contact={contact} />
      {contact.isConnected ? null : <NoContact name={name} />}
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
    </>
  );
}
