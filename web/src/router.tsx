import type { QueryClient } from "@tanstack/react-query";
import {
  type ErrorComponentProps,
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";

import { STATUSES, type Status } from "./agents/filter";
import { type AgentTab, agentTab } from "./agents/tabs";
import { meQuery } from "./api/queries";
import { ChannelPage } from "./pages/ChannelPage";
import { DmPage } from "./pages/DmPage";
import { InboxPage } from "./pages/InboxPage";
import { NotFound } from "./pages/NotFound";
import { AppShell } from "./shell/AppShell";
import { Failed } from "./ui/States";

const root = createRootRouteWithContext<{ client: QueryClient }>()({
  // Nothing is shown before it is known to whom.
  beforeLoad: ({ context }) => context.client.ensureQueryData(meQuery),
  component: AppShell,
  notFoundComponent: NotFound,
  errorComponent: RootError,
});

function RootError({ error, reset }: ErrorComponentProps) {
  return <Failed error={error} retry={reset} />;
}

/** Numbers in the address; anything else is as if it were not there. */
function id(value: unknown): number | undefined {
  const number = typeof value === "number" ? value : Number(value);
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

const index = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/inbox" });
  },
});
const inbox = createRoute({ getParentRoute: () => root, path: "/inbox", component: InboxPage });
const threads = createRoute({
  getParentRoute: () => root,
  path: "/threads",
  component: lazyRouteComponent(() => import("./pages/ThreadsPage"), "ThreadsPage"),
});
const channels = createRoute({
  getParentRoute: () => root,
  path: "/channels",
  component: lazyRouteComponent(() => import("./pages/ChannelsPage"), "ChannelsPage"),
});
const channel = createRoute({
  getParentRoute: () => root,
  path: "/channels/$name",
  validateSearch: (search): { at?: number; thread?: number } => ({ at: id(search["at"]), thread: id(search["thread"]) }),
  component: ChannelPage,
});
const dm = createRoute({
  getParentRoute: () => root,
  path: "/dm/$name",
  validateSearch: (search): { at?: number; thread?: number; as?: string } => ({
    at: id(search["at"]),
    thread: id(search["thread"]),
    as: typeof search["as"] === "string" ? search["as"] : undefined,
  }),
  component: DmPage,
});
const agents = createRoute({
  getParentRoute: () => root,
  path: "/agents",
  validateSearch: (search): { q?: string; status?: Status } => ({
    q: search["q"] === undefined ? undefined : String(search["q"]),
    status: STATUSES.find((status) => status === search["status"]),
  }),
  component: lazyRouteComponent(() => import("./pages/AgentsPage"), "AgentsPage"),
});
const agent = createRoute({
  getParentRoute: () => root,
  path: "/agents/$name",
  validateSearch: (search): { tab?: AgentTab } => ({ tab: agentTab(search["tab"]) }),
  component: lazyRouteComponent(() => import("./pages/AgentPage"), "AgentPage"),
});
const welcome = createRoute({
  getParentRoute: () => root,
  path: "/welcome",
  validateSearch: (search): { agent?: string; step?: "connect" | "message" } => ({
    agent: search["agent"] === undefined ? undefined : String(search["agent"]),
    step: search["step"] === "message" || search["step"] === "connect" ? search["step"] : undefined,
  }),
  component: lazyRouteComponent(() => import("./pages/WelcomePage"), "WelcomePage"),
});

const tree = root.addChildren([index, inbox, threads, channels, channel, dm, agents, agent, welcome]);

export function makeRouter(client: QueryClient) {
  return createRouter({ routeTree: tree, context: { client }, defaultPreload: "intent", defaultPreloadStaleTime: 0 });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
