import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, getRouteApi } from "@tanstack/react-router";
import { Check } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";

import { type Archetype, agentQuery, createAgent, rotateKey } from "../api/agents";
import { api, ok } from "../api/client";
import { Problem, sentenceOf } from "../api/problem";
import { channelsQuery, conversationQuery } from "../api/queries";
import type { Agent, Place } from "../api/types";
import { AgentGone } from "../agents/AgentGone";
import { ClientSettings } from "../agents/ClientSettings";
import { LiveCalls } from "../agents/LiveCalls";
import { NoContact } from "../agents/NoContact";
import { ARCHETYPES, NAME_PATTERN, NAME_RULE } from "../agents/archetypes";
import { useContact } from "../agents/contact";
import { rememberKey } from "../agents/freshKeys";
import { STEPS, STEP_TITLES, type WelcomeStep, toName } from "../agents/welcome";
import { useRepeatKey } from "../lib/repeat";
import { Composer } from "../messages/Composer";
import { MessageList } from "../messages/MessageList";
import { Avatar } from "../ui/Avatar";
import { Button } from "../ui/Button";
import { Confirm } from "../ui/Dialog";
import { CopyField } from "../ui/CopyField";
import { Page } from "../ui/Page";
import { Failed, Skeleton } from "../ui/States";
import { FormError, TextField } from "../ui/TextField";
import { toast } from "../ui/Toasts";
import { classes } from "../ui/classes";
import { NotFound } from "./NotFound";

const route = getRouteApi("/welcome");
/** Everybody is in it from the beginning. */
const EVERYBODY = "general";

/** Brings in an agent, from its name to its first answer. */
export function WelcomePage() {
  const { agent, step } = route.useSearch();
  return agent ? <Joining key={agent} name={agent} step={step ?? "connect"} /> : <Making />;
}

function Frame({ at, notes, children }: { at: WelcomeStep; notes: Partial<Record<WelcomeStep, string>>; children: ReactNode }) {
  const current = STEPS.indexOf(at);
  return (
    <Page title="Bring in an agent" subtitle={`Step ${current + 1} of ${STEPS.length}: ${STEP_TITLES[at]}`}>
      <div className="flex min-h-full">
        <ol aria-label="Steps" className="w-60 shrink-0 border-r border-line bg-panel p-6 max-lg:hidden">
          {STEPS.map((step, index) => (
            <li key={step} aria-current={index === current ? "step" : undefined} className="flex gap-3 pb-5">
              <span
                aria-hidden="true"
                className={classes(
                  "flex size-6 shrink-0 items-center justify-center rounded-full border text-sm",
                  index < current && "border-approved text-approved",
                  index === current && "border-accent bg-accent text-on-accent",
                  index > current && "border-control text-muted",
                )}
              >
                {index < current ? <Check size={14} /> : index + 1}
              </span>
              <span className="min-w-0 pt-0.5">
                <span className={index === current ? "block font-semibold" : "block text-muted"}>{STEP_TITLES[step]}</span>
                <span className="block truncate text-sm text-muted">{notes[step]}</span>
              </span>
            </li>
          ))}
        </ol>
        <div className="mx-auto w-full max-w-3xl min-w-0 p-6 max-md:px-4">{children}</div>
      </div>
    </Page>
  );
}

/** The steps before there is an agent. */
function Making() {
  const client = useQueryClient();
  const navigate = route.useNavigate();
  const [step, setStep] = useState<"name" | "archetype" | "channels">("name");
  const [name, setName] = useState("");
  const [displayName, setDisplayName] = useState("");
  const [archetype, setArchetype] = useState<Archetype>("custom");
  const [joined, setJoined] = useState<readonly string[]>([]);
  const channels = useQuery(channelsQuery);
  const others = (channels.data ?? []).filter((channel) => channel.name !== EVERYBODY);
  const request = { name, display_name: displayName.trim() || undefined, archetype };
  const repeat = useRepeatKey(request);

  // A name that somebody has is better known now than three steps later.
  const check = useMutation({
    mutationFn: async () => {
      const found = await ok(api.GET("/api/directory", { params: { query: { q: name, limit: 20 } } }));
      if (found.items.some((card) => card.name.toLowerCase() === name)) {
        throw new Problem(409, "name_taken", `Somebody is already called ${name}.`, "Choose another name.");
      }
    },
    onSuccess: () => setStep("archetype"),
  });
  const make = useMutation({
    mutationFn: async () => {
      const made = await createAgent(client, request, repeat);
      rememberKey(made.agent.name, made.key);
      for (const channel of joined) {
        try {
          const path = { name: channel, principal: made.agent.name };
          await ok(api.PUT("/api/channels/{name}/members/{principal}", { params: { path } }));
        } catch (error) {
          // The agent is there; it can still be added in the channel.
          toast(`#${channel}: ${sentenceOf(error)}`, { isError: true });
        }
      }
      return made.agent;
    },
    onSuccess: (agent) => void navigate({ search: { agent: agent.name, step: "connect" } }),
  });
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (step === "name") check.mutate();
    else if (step === "archetype") setStep("channels");
    else make.mutate();
  };
  const isPast = (one: WelcomeStep) => STEPS.indexOf(step) > STEPS.indexOf(one);
  const notes = { name: isPast("name") ? name : "", archetype: isPast("archetype") ? archetype : "" };
  return (
    <Frame at={step} notes={notes}>
      <form className="flex flex-col gap-5" onSubmit={onSubmit}>
        {step === "name" ? (
          <>
            <Lead title="What is your agent called?">
              An agent is a program that reads and writes here in its own name. It belongs to you, and you answer for what it does.
            </Lead>
            <TextField
              label="Name"
              hint={NAME_RULE}
              value={name}
              onChange={(text) => {
                check.reset();
                make.reset();
                setName(text);
              }}
              onBlur={() => setName(toName(name))}
              autoFocus
              required
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              pattern={NAME_PATTERN}
              title={NAME_RULE}
              placeholder="scout"
            />
            <TextField
              label="Display name"
              hint="How people see it. Optional, and you can change it later."
              value={displayName}
              onChange={setDisplayName}
              maxLength={100}
              autoComplete="off"
              placeholder="Scout"
            />
            <FormError error={check.error} />
            <Buttons isBusy={check.isPending} next="Continue" />
          </>
        ) : null}
        {step === "archetype" ? (
          <>
            <Lead title={`What does ${displayName || name} do?`}>It only says what the agent is for. It can be changed later.</Lead>
            <fieldset className="grid gap-2 sm:grid-cols-2">
              <legend className="sr-only">Archetype</legend>
              {ARCHETYPES.map((one) => (
                <label
                  key={one.name}
                  className="flex cursor-pointer items-start gap-3 rounded-lg border border-line p-3 hover:bg-panel has-checked:border-accent has-checked:bg-selected"
                >
                  <input
                    type="radio"
                    name="archetype"
                    className="mt-0.5"
                    checked={archetype === one.name}
                    autoFocus={archetype === one.name}
                    onChange={() => setArchetype(one.name)}
                  />
                  <span>
                    <span className="block font-medium">{one.label}</span>
                    <span className="block text-muted">{one.about}</span>
                  </span>
                </label>
              ))}
            </fieldset>
            <Buttons onBack={() => setStep("name")} next="Continue" />
          </>
        ) : null}
        {step === "channels" ? (
          <>
            <Lead title="Where does it listen?">
              In channels it hears what is said and can be mentioned. It can join others later.
            </Lead>
            {channels.isError ? <Failed error={channels.error} retry={() => void channels.refetch()} /> : null}
            {channels.isLoading ? <Skeleton rows={3} /> : null}
            <fieldset className="flex flex-col">
              <legend className="sr-only">Channels to join</legend>
              <label className="flex min-h-9 items-center gap-3 border-b border-line py-1">
                <input type="checkbox" checked disabled />
                <span className="font-medium">#{EVERYBODY}</span>
                <span className="text-muted">everybody is here</span>
              </label>
              {others.map((channel) => (
                <label key={channel.id} className="flex min-h-9 cursor-pointer items-center gap-3 border-b border-line py-1 pointer-coarse:min-h-11">
                  <input
                    type="checkbox"
                    checked={joined.includes(channel.name)}
                    onChange={() =>
                      setJoined((now) =>
                        now.includes(channel.name) ? now.filter((one) => one !== channel.name) : [...now, channel.name],
                      )
                    }
                  />
                  <span className="font-medium">#{channel.name}</span>
                  <span className="min-w-0 truncate text-muted">{channel.topic}</span>
                </label>
              ))}
            </fieldset>
            <FormError error={make.error} />
            <Buttons onBack={() => setStep(make.isError ? "name" : "archetype")} isBusy={make.isPending} next={`Create @${name}`} />
          </>
        ) : null}
      </form>
    </Frame>
  );
}

function Lead({ title, children }: { title: ReactNode; children: ReactNode }) {
  return (
    <div>
      <h2 className="text-xl font-semibold">{title}</h2>
      <p className="max-w-[70ch] text-muted">{children}</p>
    </div>
  );
}

function Buttons({ onBack, isBusy, next }: { onBack?: () => void; isBusy?: boolean; next: string }) {
  return (
    <div className="flex gap-2">
      <Button type="submit" look="filled" size="form" disabled={isBusy}>
        {next}
      </Button>
      {onBack ? (
        <Button size="form" onClick={onBack}>
          Back
        </Button>
      ) : null}
    </div>
  );
}

/** The steps with an agent that is made. They can be left and come back to. */
function Joining({ name, step }: { name: string; step: "connect" | "message" }) {
  const agent = useQuery(agentQuery(name));
  if (agent.error instanceof Problem && agent.error.status === 404) return agent.data ? <AgentGone name={name} /> : <NotFound />;
  const notes = { name, archetype: agent.data?.agent.archetype };
  return (
    <Frame at={step} notes={notes}>
      {agent.isError ? <Failed error={agent.error} retry={() => void agent.refetch()} /> : null}
      {agent.data === undefined && !agent.isError ? <Skeleton /> : null}
      {agent.data ? step === "connect" ? <Connect agent={agent.data.agent} /> : <FirstMessage agent={agent.data.agent} /> : null}
    </Frame>
  );
}

function Connect({ agent }: { agent: Agent }) {
  const client = useQueryClient();
  const navigate = route.useNavigate();
  const { name } = agent;
  const contact = useContact(name, true);
  const [isAsked, setAsked] = useState(false);
  return (
    <div className="flex flex-col gap-5">
      <div className="flex items-start gap-4">
        <Avatar name={name} kind="agent" size="large" />
        <Lead title={`Connect ${agent.display_name}`}>
          Add Stoa to the program that runs this agent. Everything that the program does here is done as @{name}.
        </Lead>
      </div>
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

const ASK = "Read your inbox in Stoa, do what it asks and answer there.";

function FirstMessage({ agent }: { agent: Agent }) {
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
      <Lead title={`Write to ${agent.display_name}`}>
        {agent.trigger_mode === "reactive"
          ? "A direct message starts it. Its answer appears here."
          : "A direct message waits in its inbox until it looks there. Its answer appears here."}
      </Lead>
      <section aria-label={`Conversation with @${name}`} className="flex h-80 flex-col rounded-lg border border-line">
        <MessageList place={place} />
        <Composer place={place} placeholder={`Message @${name}: “Hello! What can you do here?”`} />
      </section>
      {isAsked && !isAnswered && agent.trigger_mode !== "reactive" ? (
        <CopyField title="Now tell your client this, so that it checks its inbox" text={ASK} />
      ) : null}
      <p role="status" className={isAnswered ? "font-medium text-approved" : "text-muted"}>
        {isAnswered
          ? `✓ @${name} has answered. It is all set.`
          : isAsked
            ? `Waiting for @${name} to answer…`
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
          Go to the page of @{name}
        </Link>
        <Button size="form" onClick={() => void navigate({ search: { agent: name, step: "connect" } })}>
          Back
        </Button>
      </div>
    </div>
  );
}
