import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  defaultParseSearch,
  defaultStringifySearch,
  redirect,
} from "@tanstack/react-router";

import { STATUSES, type Status } from "./agents/statuses";
import { type AgentTab, agentTab } from "./agents/tabs";
import { meQuery } from "./api/queries";
import { person } from "./lib/person";
import { adminSearch } from "./pages/admin/search";
import { boardSearch } from "./pages/board/search";
import { deliverySearch } from "./pages/deliveries/search";
import { inboxSearch } from "./pages/inbox/search";
import { runSearch } from "./pages/runs/search";
import { searchIn } from "./pages/search/address";
import { traceSearch } from "./pages/traces/search";
import { NotFound } from "./pages/NotFound";
import { AppShell } from "./shell/AppShell";
import { RootError } from "./shell/RootError";
import { isAhead } from "./shell/ahead";
import { lazyPage, loadAhead } from "./shell/lazyPage";

const conversation = () => import("./pages/conversation");

/** The pages that the sidebar leads to. They are loaded when the page has nothing else to do. */
const NEAR = {
  conversation: lazyPage(conversation, "ChannelPage"),
  inbox: lazyPage(() => import("./pages/inbox/InboxPage"), "InboxPage"),
  threads: lazyPage(() => import("./pages/ThreadsPage"), "ThreadsPage"),
  channels: lazyPage(() => import("./pages/ChannelsPage"), "ChannelsPage"),
  board: lazyPage(() => import("./pages/board/BoardPage"), "BoardPage"),
  runs: lazyPage(() => import("./pages/runs/RunsPage"), "RunsPage"),
  agents: lazyPage(() => import("./pages/AgentsPage"), "AgentsPage"),
  agent: lazyPage(() => import("./pages/AgentPage"), "AgentPage"),
  search: lazyPage(() => import("./pages/search/SearchPage"), "SearchPage"),
  traces: lazyPage(() => import("./pages/traces/TracesPage"), "TracesPage"),
  deliveries: lazyPage(() => import("./pages/deliveries/DeliveriesPage"), "DeliveriesPage"),
};

/** Loads the pages that the sidebar leads to, so that they are there when the hub is not. */
export function loadPagesAhead(): void {
  void loadAhead(Object.values(NEAR));
}

const root = createRootRouteWithContext<{ client: QueryClient }>()({
  // Nothing is shown before the page knows who looks at it.
  beforeLoad: async ({ context }) => {
    const { user } = await context.client.ensureQueryData(meQuery);
    person.set(user.username);
    await isAhead();
  },
  component: AppShell,
  notFoundComponent: NotFound,
  errorComponent: RootError,
});

/** A number in the address. Anything else is ignored. */
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
const inbox = createRoute({
  getParentRoute: () => root,
  path: "/inbox",
  validateSearch: inboxSearch,
  component: NEAR.inbox,
});
const threads = createRoute({
  getParentRoute: () => root,
  path: "/threads",
  component: NEAR.threads,
});
const channels = createRoute({
  getParentRoute: () => root,
  path: "/channels",
  component: NEAR.channels,
});
const channel = createRoute({
  getParentRoute: () => root,
  path: "/channels/$name",
  validateSearch: (search): { at?: number; thread?: number } => ({ at: id(search["at"]), thread: id(search["thread"]) }),
  component: NEAR.conversation,
});
const dm = createRoute({
  getParentRoute: () => root,
  path: "/dm/$name",
  validateSearch: (search): { at?: number; thread?: number; as?: string } => ({
    at: id(search["at"]),
    thread: id(search["thread"]),
    as: typeof search["as"] === "string" ? search["as"] : undefined,
  }),
  component: lazyPage(conversation, "DmPage"),
});
const agents = createRoute({
  getParentRoute: () => root,
  path: "/agents",
  validateSearch: (search): { q?: string; status?: Status } => ({
    q: search["q"] === undefined ? undefined : String(search["q"]),
    status: STATUSES.find((status) => status === search["status"]),
  }),
  component: NEAR.agents,
});
const agent = createRoute({
  getParentRoute: () => root,
  path: "/agents/$name",
  validateSearch: (search): { tab?: AgentTab } => ({ tab: agentTab(search["tab"]) }),
  component: NEAR.agent,
});
const welcome = createRoute({
  getParentRoute: () => root,
  path: "/welcome",
  validateSearch: (search): { agent?: string; step?: "connect" | "message" } => ({
    agent: search["agent"] === undefined ? undefined : String(search["agent"]),
    step: search["step"] === "message" || search["step"] === "connect" ? search["step"] : undefined,
  }),
  component: lazyPage(() => import("./pages/welcome/WelcomePage"), "WelcomePage"),
});

const channelSettings = createRoute({
  getParentRoute: () => root,
  path: "/channels/$name/settings",
  component: lazyPage(() => import("./pages/channel/ChannelSettingsPage"), "ChannelSettingsPage"),
});
const channelBoard = createRoute({
  getParentRoute: () => root,
  path: "/channels/$name/board",
  validateSearch: boardSearch,
  component: lazyPage(() => import("./pages/board/ChannelBoardPage"), "ChannelBoardPage"),
});
const board = createRoute({
  getParentRoute: () => root,
  path: "/board",
  validateSearch: boardSearch,
  component: NEAR.board,
});
const operate = createRoute({
  getParentRoute: () => root,
  path: "/operate",
  beforeLoad: () => {
    throw redirect({ to: "/traces" });
  },
});
const traces = createRoute({
  getParentRoute: () => root,
  path: "/traces",
  validateSearch: traceSearch,
  component: NEAR.traces,
});
const deliveries = createRoute({
  getParentRoute: () => root,
  path: "/deliveries",
  validateSearch: deliverySearch,
  component: NEAR.deliveries,
});
const runs = createRoute({
  getParentRoute: () => root,
  path: "/runs",
  validateSearch: runSearch,
  component: NEAR.runs,
});
const run = createRoute({
  getParentRoute: () => root,
  path: "/runs/$id",
  component: lazyPage(() => import("./pages/runs/RunPage"), "RunPage"),
});
const automation = createRoute({
  getParentRoute: () => root,
  path: "/automation",
  component: lazyPage(() => import("./pages/automation/AutomationPage"), "AutomationPage"),
});
const search = createRoute({
  getParentRoute: () => root,
  path: "/search",
  validateSearch: searchIn,
  component: NEAR.search,
});
const attachments = createRoute({
  getParentRoute: () => root,
  path: "/attachments",
  component: lazyPage(() => import("./pages/attachments/AttachmentsPage"), "AttachmentsPage"),
});
const admin = createRoute({
  getParentRoute: () => root,
  path: "/admin",
  validateSearch: adminSearch,
  component: lazyPage(() => import("./pages/admin/AdminPage"), "AdminPage"),
});
const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  component: lazyPage(() => import("./pages/settings/SettingsLayout"), "SettingsLayout"),
});
const settingsIndex = createRoute({
  getParentRoute: () => settings,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/settings/profile" });
  },
});
const profile = createRoute({
  getParentRoute: () => settings,
  path: "/profile",
  component: lazyPage(() => import("./pages/settings/ProfilePage"), "ProfilePage"),
});
const keys = createRoute({
  getParentRoute: () => settings,
  path: "/keys",
  component: lazyPage(() => import("./pages/settings/KeysPage"), "KeysPage"),
});
const apps = createRoute({
  getParentRoute: () => settings,
  path: "/apps",
  component: lazyPage(() => import("./pages/settings/AppsPage"), "AppsPage"),
});
const hooks = createRoute({
  getParentRoute: () => settings,
  path: "/hooks",
  validateSearch: (search): { hook?: string } => ({ hook: search["hook"] === undefined ? undefined : String(search["hook"]) }),
  component: lazyPage(() => import("./pages/hooks/HooksPage"), "HooksPage"),
});
const notifications = createRoute({
  getParentRoute: () => settings,
  path: "/notifications",
  component: lazyPage(() => import("./pages/settings/NotificationsPage"), "NotificationsPage"),
});
const appearance = createRoute({
  getParentRoute: () => settings,
  path: "/appearance",
  component: lazyPage(() => import("./pages/settings/AppearancePage"), "AppearancePage"),
});

const tree = root.addChildren([
  index,
  inbox,
  threads,
  channels,
  channel,
  channelSettings,
  channelBoard,
  board,
  dm,
  agents,
  agent,
  welcome,
  operate,
  traces,
  deliveries,
  runs,
  run,
  automation,
  search,
  attachments,
  admin,
  settings.addChildren([settingsIndex, profile, keys, apps, hooks, notifications, appearance]),
]);

/** The typed search stays as it is: `"a phrase"` and `007` are not JSON. */
export function parseSearch(address: string): Record<string, unknown> {
  const q = new URLSearchParams(address).get("q");
  return { ...defaultParseSearch(address), ...(q === null ? {} : { q }) };
}

export function stringifySearch({ q, ...search }: Record<string, unknown>): string {
  const rest = defaultStringifySearch(search);
  if (q === undefined || q === null) return rest;
  const typed = new URLSearchParams({ q: String(q) }).toString();
  return rest ? `${rest}&${typed}` : `?${typed}`;
}

export function makeRouter(client: QueryClient) {
  return createRouter({
    routeTree: tree,
    context: { client },
    parseSearch,
    stringifySearch,
    defaultPreload: "intent",
    defaultPreloadStaleTime: 0,
    // A page that fails shows its error in its place, and the shell stays.
    defaultErrorComponent: RootError,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
