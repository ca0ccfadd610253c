import { useMutation, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";

import { rememberKey } from "../../agents/freshKeys";
import { STEPS, type WelcomeStep } from "../../agents/welcome";
import { type Archetype, createAgent } from "../../api/newAgent";
import { api, ok } from "../../api/client";
import { Problem, sentenceOf } from "../../api/problem";
import { useRepeatKey } from "../../lib/repeat";
import { toast } from "../../ui/Toasts";
import { ArchetypeStep } from "./ArchetypeStep";
import { ChannelsStep } from "./ChannelsStep";
import { NameStep } from "./NameStep";
import { WelcomeFrame } from "./WelcomeFrame";

const route = getRouteApi("/welcome");

/** The steps that create an agent. */
export function CreateSteps() {
  const client = useQueryClient();
  const navigate = route.useNavigate();
  const [step, setStep] = useState<"name" | "archetype" | "channels">("name");
  const [name, setName] = useState("");
  const [displayName, setDisplayName] = useState("");
  const [archetype, setArchetype] = useState<Archetype>("custom");
  const [joined, setJoined] = useState<readonly string[]>([]);
  const request = { name, display_name: displayName.trim() || undefined, archetype };
  const repeat = useRepeatKey(request);

  // The person learns now, and not three steps later, that a name is taken.
  const check = useMutation({
    mutationFn: async () => {
      const found = await ok(api.GET("/api/directory", { params: { query: { q: name, limit: 20 } } }));
      if (found.items.some((card) => card.name.toLowerCase() === name)) {
        throw new Problem(409, "name_taken", `“${name}” is taken.`, "Choose another name.");
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
          // The agent exists; the person can still add it in the channel.
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
    <WelcomeFrame at={step} notes={notes}>
      <form className="flex flex-col gap-5" onSubmit={onSubmit}>
        {step === "name" ? (
          <NameStep
            name={name}
            setName={setName}
            displayName={displayName}
            setDisplayName={setDisplayName}
            error={check.error}
            isBusy={check.isPending}
            forgetErrors={() => {
              check.reset();
              make.reset();
            }}
          />
        ) : null}
        {step === "archetype" ? (
          <ArchetypeStep name={displayName || name} archetype={archetype} setArchetype={setArchetype} onBack={() => setStep("name")} />
        ) : null}
        {step === "channels" ? (
          <ChannelsStep
            name={name}
            joined={joined}
            setJoined={setJoined}
            error={make.error}
            isBusy={make.isPending}
            onBack={() => setStep(make.isError ? "name" : "archetype")}
          />
        ) : null}
      </form>
    </WelcomeFrame>
  );
}
