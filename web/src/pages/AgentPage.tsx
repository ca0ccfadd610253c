import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { agentQuery, keysOfAgentQuery } from "../api/agents";
import { Problem } from "../api/problem";
import { runsQuery } from "../api/runs";
import { webhooksQuery } from "../api/webhooks";
import { AgentGone } from "../agents/AgentGone";
import { AgentHeader } from "../agents/AgentHeader";
import { OverviewTab } from "../agents/OverviewTab";
import { keyState } from "../agents/keys";
import { AGENT_TABS, type AgentTab } from "../agents/tabs";
import { Page } from "../ui/Page";
import { Failed, Skeleton } from "../ui/States";
import { Tabs } from "../ui/Tabs";
import { lazyPart } from "../ui/lazyPart";
import { NotFound } from "./NotFound";

const route = getRouteApi("/agents/$name");
const LOOKS_AGAIN_MS = 30_000;
const TITLES: Record<AgentTab, string> = {
  overview: "Overview",
  runs: "Runs",
  instructions: "Instructions",
  keys: "Keys",
  webhooks: "Webhooks",
  conversations: "Conversations",
  connect: "Connect",
};

const RunsTab = lazyPart(() => import("../agents/runs/RunsTab").then((part) => part.RunsTab), <Skeleton />);
const InstructionsTab = lazyPart(() => import("../agents/InstructionsTab").then((part) => part.InstructionsTab), <Skeleton />);
const KeysTab = lazyPart(() => import("../agents/KeysTab").then((part) => part.KeysTab), <Skeleton />);
const WebhooksTab = lazyPart(() => import("../agents/webhooks/WebhooksTab").then((part) => part.WebhooksTab), <Skeleton />);
const ConversationsTab = lazyPart(() => import("../agents/ConversationsTab").then((part) => part.ConversationsTab), <Skeleton />);
const ConnectTab = lazyPart(() => import("../agents/ConnectTab").then((part) => part.ConnectTab), <Skeleton />);

/** One agent, for its owner. */
export function AgentPage() {
  const { name } = route.useParams();
  const { tab = "overview" } = route.useSearch();
  const navigate = route.useNavigate();
  const revised = useQuery({
    ...agentQuery(name),
    // Not all that happens to an agent is told by the stream.
    refetchInterval: ({ state }) => (state.status === "error" ? false : LOOKS_AGAIN_MS),
  });
  const keys = useQuery(keysOfAgentQuery(name)).data?.filter((key) => keyState(key) === "active").length;
  const webhooks = useQuery({ ...webhooksQuery(name), refetchInterval: false }).data?.length;
  const runs = useQuery(runsQuery({ agent: name })).data?.total;
  const counts: Partial<Record<AgentTab, number>> = { runs, keys, webhooks };
  if (revised.error instanceof Problem && revised.error.status === 404) return revised.data ? <AgentGone name={name} /> : <NotFound />;
  if (revised.isError && !revised.data) return <Failed error={revised.error} retry={() => void revised.refetch()} />;
  if (!revised.data) {
    return (
      <Page title={`@${name}`}>
        <Skeleton />
      </Page>
    );
  }
  const { agent } = revised.data;
  return (
    <Page key={name} title={agent.display_name} header={(title) => <AgentHeader agent={agent} title={title} />}>
      <Tabs
        label={`Tabs of @${name}`}
        value={tab}
        onChange={(next) => void navigate({ search: { tab: next === "overview" ? undefined : next } })}
        tabs={AGENT_TABS.map((one) => ({ name: one, label: counts[one] ? `${TITLES[one]} ${counts[one]}` : TITLES[one] }))}
      >
        {tab === "overview" ? <OverviewTab agent={agent} /> : null}
        {tab === "runs" ? <RunsTab revised={revised.data} /> : null}
        {tab === "instructions" ? <InstructionsTab revised={revised.data} /> : null}
        {tab === "keys" ? <KeysTab name={name} /> : null}
        {tab === "webhooks" ? <WebhooksTab agent={agent} /> : null}
        {tab === "conversations" ? <ConversationsTab name={name} /> : null}
        {tab === "connect" ? <ConnectTab name={name} /> : null}
      </Tabs>
    </Page>
  );
}
