import { useQuery } from "@tanstack/react-query";
import { Link, getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { LiveCalls } from "../../agents/LiveCalls";
import { useContact } from "../../agents/contact";
import { conversationQuery } from "../../api/queries";
import type { Agent, Place } from "../../api/types";
import { Composer } from "../../messages/Composer";
import { MessageList } from "../../messages/MessageList";
import { Button } from "../../ui/Button";
import { CopyField } from "../../ui/CopyField";
import { classes } from "../../ui/classes";
import { StepLead } from "./StepLead";

const route = getRouteApi("/welcome");

const ASK = "Check your Stoa inbox, do what the messages ask and reply there.";

/** Writes the first message to the agent, and waits for its answer. */
export function MessageStep({ agent }: { agent: Agent }) {
  const navigate = route.useNavigate();
  const { name } = agent;
  const [place] = useState<Place>({ kind: "dm", name });
  const contact = useContact(name, true);
  const messages = useQuery(conversationQuery(place)).data?.items ?? [];
  const asked = messages.findIndex((message) => message.from.name !== name);
  const isAsked = asked >= 0;
  const isAnswered = isAsked && messages.slice(asked).some((message) => message.from.name === name);
  return (
    <div className="flex flex-col gap-5">
      <StepLead title={`Write to ${agent.display_name}`}>
        Send a message as you would to a colleague. It waits in the agent's inbox until the client checks it; most clients check only when you ask them to. The reply appears here.
      </StepLead>
      <section aria-label={`Conversation with @${name}`} className="flex h-80 flex-col rounded-lg border border-line">
        <MessageList place={place} />
        <Composer place={place} autoFocus placeholder={`Message @${name}: “Hello! What can you do here?”`} />
      </section>
      {contact.isConnected ? null : (
        <p className="text-amber">
          @{name} is not connected yet. Your message is kept. Go back to connect a client.
        </p>
      )}
      {isAsked && !isAnswered ? (
        <>
          <CopyField title="Tell your client to check its inbox:" text={ASK} />
          <details>
            <summary className="cursor-pointer py-1 text-accent pointer-coarse:py-3">No reply?</summary>
            <ul className="mt-2 flex max-w-[80ch] list-disc flex-col gap-1 pl-6">
              <li>If the client asks for permission to use Stoa, allow it.</li>
              <li>If there are no calls below, the client has not checked its inbox. Ask it again and mention Stoa.</li>
              <li>If a call failed, the reason is next to it.</li>
            </ul>
          </details>
        </>
      ) : null}
      <p role="status" className={isAnswered ? "font-medium text-approved" : "text-muted"}>
        {isAnswered
          ? `✓ @${name} replied. You're all set.`
          : isAsked
            ? `Waiting for @${name} to reply…`
            : "Write the first message above."}
      </p>
      {isAsked ? <LiveCalls name={name} contact={contact} /> : null}
      <div className="flex flex-wrap gap-2">
        <Link
          to="/agents/$name"
          params={{ name }}
          className={classes(
            "inline-flex h-9 items-center rounded-md border px-4 font-medium pointer-coarse:h-11",
            isAnswered ? "border-accent bg-accent text-on-accent hover:opacity-90" : "border-line hover:bg-panel",
          )}
        >
          Open @{name}
        </Link>
        <Button size="form" onClick={() => void navigate({ search: { agent: name, step: "connect" } })}>
          Back
        </Button>
      </div>
    </div>
  );
}
