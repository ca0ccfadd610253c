import { Link } from "@tanstack/react-router";
import { Check, CircleDashed, CirclePause, Clock, Hand, OctagonX } from "lucide-react";
import type { ReactNode } from "react";

import type { Agent } from "../api/types";
import { type ChainStep, chainOf, effectOf } from "./chain";

const OUTCOMES: Record<ChainStep["outcome"], { icon: ReactNode; word: string; colour: string }> = {
  passed: { icon: <Check size={14} />, word: "passed", colour: "text-approved" },
  rests: { icon: <CirclePause size={14} />, word: "waits in the inbox", colour: "text-muted" },
  held: { icon: <Hand size={14} />, word: "on hold", colour: "text-amber" },
  stopped: { icon: <OctagonX size={14} />, word: "stops here", colour: "text-rejected" },
  later: { icon: <Clock size={14} />, word: "checked each time", colour: "text-muted" },
  unasked: { icon: <CircleDashed size={14} />, word: "n/a", colour: "text-muted" },
};

/** The checks that a message passes before it starts the agent. */
export function TriggerChain({ agent }: { agent: Agent }) {
  return (
    <>
      <p className="text-muted">{effectOf(agent)}</p>
      <ol className="mt-3 flex flex-col gap-2">
        {chainOf(agent).map((step) => (
          <StepRow key={step.name} step={step} />
        ))}
      </ol>
      <p className="mt-3">
        <Link
          to="/agents/$name"
          params={{ name: agent.name }}
          search={{ tab: "runs" }}
          className="inline-flex min-h-6 items-center text-accent hover:underline pointer-coarse:min-h-11"
        >
          Change what it does
        </Link>
      </p>
    </>
  );
}

function StepRow({ step }: { step: ChainStep }) {
  const { icon, word, colour } = OUTCOMES[step.outcome];
  return (
    <li className="flex items-baseline gap-2">
      <span aria-hidden="true" className={`self-center ${colour}`}>
        {icon}
      </span>
      <span className="min-w-0 flex-1">
        <span className={step.outcome === "unasked" ? "text-muted" : "font-medium"}>
          {step.name}
          {step.note ? ":" : ""}
        </span>{" "}
        <span className="text-muted">{step.note}</span>
      </span>
      <span className={`text-sm whitespace-nowrap ${colour}`}>{word}</span>
    </li>
  );
}
