import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import type { Agent } from "../api/types";
import { webhooksQuery } from "../api/webhooks";
import { howItWorks, nextStepOf } from "./works";

/** What the agent does when someone writes to it, and what is missing for that. */
export function HowItWorks({ agent }: { agent: Agent }) {
  const { name } = agent;
  const webhooks = useQuery({ ...webhooksQuery(name), refetchInterval: false }).data?.filter((one) => !one.disabled_reason).length ?? 0;
  const next = nextStepOf(agent);
  return (
    <p className="max-w-[90ch]">
      {howItWorks(agent, webhooks)}{" "}
      {next ? (
        <Link to="/agents/$name" params={{ name }} search={{ tab: next.tab }} className="inline-flex min-h-6 items-center text-accent underline pointer-coarse:min-h-11">
          {next.label}
        </Link>
      ) : null}
    </p>
  );
}
