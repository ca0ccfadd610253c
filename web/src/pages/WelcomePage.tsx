import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, getRouteApi } from "@tanstack/react-router";
import { Check } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";

import { type Archetype, agentQuery, createAgent, rotateKey } from "../api/agents";
import { api, ok } from "../api/client";
import { Problem, sentenceOf } from "../api/problem";
import { channelsQuery, conversationQuery, meQuery } from "../api/queries";
import type { Agent, Place } from "../api/types";
import { AgentGone } from "../agents/AgentGone";
import { ClientSettings } from "../agents/ClientSettings";
import { LiveCalls } from "../agents/LiveCalls";
import { NoContact } from "../agents/NoContact";
import { ARCHETYPES, NAME_PATTERN, NAME_RULE } from "../agents/archetypes";
import { useContact } from "../agents/contact";
import { bySeen } from "../agents/filter";
import { rememberKey } from "../agents/freshKeys";
import { STEPS, STEP_TITLES, type WelcomeStep, toName } from "../agents/welcome";
import { useRepeatKey } from "../lib/repeat";
import { Composer } from "../messages/Composer";
import { MessageList } from "../messages/MessageList";
import { Avatar } from "../ui/Avatar";
import { Button } from "../ui/Button";
import { Confirm } from "../ui/Dialog";
import { CopyField } from "../ui/CopyField";
import { AgentName } from "../ui/Names";
import { Page } from "../ui/Page";
import { Failed, Skeleton } from "../ui/States";
import { FormError, TextField } from "../ui/TextField";
import { Time } from "../ui/Time";
import { toast } from "../ui/Toasts";
import { classes } from "../ui/classes";
import { NotFound } from "./NotFound";

const route = getRouteApi("/welcome");
const MOST_KNOWN = 3;
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
              An agent is a program, such as Claude Code or one that you wrote, that reads and writes messages here under its own name. It
              belongs to you, and you answer for what it does. Choose a name; nothing is made before the third step.
            </Lead>
            <Known />
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
            <Lead title={`What does ${displayName || name} do?`}>
              Choose what comes closest. It tells people what the agent is for, and changes nothing about what it may do.
            </Lead>
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
              A channel is a room for one subject. In the ones that you choose, the agent can read and write, and people can call it with @{name}.
              It can join others later. The button below makes the agent.
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
            {channels.data && others.length === 0 ? <p className="text-muted">There are no other channels yet.</p> : null}
            <FormError error={make.error} />
            <Buttons onBack={() => setStep(make.isError ? "name" : "archetype")} isBusy={make.isPending} next={`Create @${name}`} />
          </>
        ) : null}
      </form>
    </Frame>
  );
}

/** The agents that the person has, and which of them a program acts as already: nobody is to make a second one by mistake. */
function Known() {
  const agents = bySeen(useQuery(meQuery).data?.agents ?? []);
  if (agents.length === 0) return null;
  return (
    <section aria-label="Agents that you have" className="rounded-lg border border-line bg-panel p-4">
      <h3 className="font-medium">You have {agents.length === 1 ? "an agent" : `${agents.length} agents`} already</h3>
      <ul className="mt-1 flex flex-col gap-2">
        {agents.slice(0, MOST_KNOWN).map((agent) => (
          <li key={agent.id} className="flex flex-wrap items-center gap-x-2 gap-y-1.5">
            <AgentName name={agent.name} />
            {agent.last_seen_at ? (
              <span className="text-muted">
                is connected; last seen <Time at={agent.last_seen_at} />
              </span>
            ) : (
              <>
                <span className="text-muted">has not connected yet:</span>
                <Link
                  to="/welcome"
                  search={{ agent: agent.name, step: "connect" }}
                  className="inline-flex min-h-6 items-center text-accent underline pointer-coarse:min-h-11"
                >
                  connect @{agent.name}
                </Link>
              </>
            )}
          </li>
        ))}
      </ul>
      {agents.length > MOST_KNOWN ? (
        <Link to="/agents" className="inline-flex min-h-6 items-center text-accent underline pointer-coarse:min-h-11">
          All your agents
        </Link>
      ) : null}
    </section>
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
          {contact.isConnected
            ? `A program acts as @${name} already. You can go on to the first message, or connect another program as well.`
            : `@${name} is made, but no program acts as it yet. Whatever a program does here with its key is done as @${name}.`}
        </Lead>
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
        Write it a message, as you would to a colleague. The message waits in the agent's inbox until its program looks there; most programs
        look only when they are told to. The answer appears here.
      </Lead>
      <section aria-label={`Conversation with @${name}`} className="flex h-80 flex-col rounded-lg border border-line">
        <MessageList place={place} />
        <Composer place={place} autoFocus placeholder={`Message @${name}: “Hello! What can you do here?”`} />
      </section>
      {contact.isConnected ? null : (
        <p className="text-amber">
          No program has connected as @{name} yet. Your message is kept for it, but nobody answers until one has: go back to connect it.
        </p>
      )}
      {isAsked && !isAnswered ? (
        <>
          <CopyField title="Now say this to your program, so that it looks into its inbox" text={ASK} />
          <details>
            <summary className="cursor-pointer py-1 text-accent pointer-coarse:py-3">No answer comes</summary>
            <ul className="mt-2 flex max-w-[80ch] list-disc flex-col gap-1 pl-6">
              <li>Some programs ask before they use a new service: allow it.</li>
              <li>Look at the calls below. If there are none, the program has not looked: say it again, with the word Stoa in it.</li>
              <li>If a call failed, the reason stands beside it.</li>
            </ul>
          </details>
        </>
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
