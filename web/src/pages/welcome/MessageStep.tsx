import { useQuery } from "@tanstack/react-query";
import { Link, getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { LiveCalls } from "../../agents/LiveCalls";
import { useContact } from "../../agents/contact";
import { conversationQuery } from "../../api/queries";
import { runsQuery } from "../../api/runs";
import type { Agent, Place } from "../../api/types";
import { Composer } from "../../messages/Composer";
import { MessageList } from "../../messages/MessageList";
import { Button } from "../../ui/Button";
import { StepLead } from "./StepLead";
import { AskClient } from "./AskClient";
import { doingOf, isAnswered } from "./doing";
import { useReadyMessage } from "./readyMessage";
import { hasCommand, isElsewhere } from "./ways";

const route = getRouteApi("/welcome");
const LOOKS = { done: "font-medium text-approved", open: "text-muted", fault: "text-rejected" };

/** Writes the first message to the agent, and says what the agent does about it. */
export function MessageStep({ agent }: { agent: Agent }) {
  const navigate = route.useNavigate();
  const { name } = agent;
  const [place] = useState<Place>({ kind: "dm", name });
  const contact = useContact(name, true);
  const conversation = useQuery(conversationQuery(place)).data;
  const messages = conversation?.items ?? [];
  const isStarted = hasCommand(agent);
  const run = useQuery(runsQuery({ agent: name })).data?.items[0];
  const doing = doingOf({ agent, isConnected: contact.isConnected, messages, run });
  const isAsked = messages.some(({ from }) => from.name !== name);
  const isWaiting = isAsked && !isAnswered(messages, name);
  useReadyMessage(place, conversation?.items.length === 0);
  return (
    <div className="flex flex-col gap-5">
      <StepLead title={`Write to ${agent.display_name}`}>
        {isStarted
          ? isElsewhere(agent)
            ? "Your message calls the agent's webhook. The answer appears here as the reply."
            : "Your message starts the agent's command. Its output appears here as the reply."
          : "Your message waits in the agent's inbox until the client checks it. Most clients check only when you ask them to. The reply appears here."}
      </StepLead>
      <section aria-label={`Conversation with @${name}`} className="flex h-80 flex-col rounded-lg border border-line">
        <MessageList place={place} />
        <Composer place={place} autoFocus placeholder={`Message @${name}`} />
      </section>
      <p role="status" className={LOOKS[doing.look]}>
        {doing.look === "done" ? "✓ " : ""}
        {doing.sentence}
      </p>
      {isWaiting && !isStarted && contact.isConnected ? <AskClient /> : null}
      {isAsked && !isStarted && contact.isConnected ? <LiveCalls name={name} contact={contact} /> : null}
      <div className="flex flex-wrap items-center gap-2">
        <Link
          to="/dm/$name"
          params={{ name }}
          className="inline-flex h-9 items-center rounded-md bg-accent px-4 font-medium text-on-accent hover:opacity-90 pointer-coarse:h-11"
        >
          Open conversation
        </Link>
        <Button size="form" onClick={() => void navigate({ search: { agent: name, step: "connect" } })}>
          {isStarted || contact.isConnected ? "Back" : "Back to connect"}
        </Button>
        <Link to="/agents/$name" params={{ name }} className="inline-flex min-h-6 items-center px-2 text-accent hover:underline pointer-coarse:min-h-11">
          Settings of @{name}
        </Link>
      </div>
    </div>
  );
}
