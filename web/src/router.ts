import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  defaultParseSearch,
  defaultStringifySearch,
  lazyRouteComponent,
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

const conversation = () => import("./pages/conversation");

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
  component: lazyRouteComponent(() => import("./pages/inbox/InboxPage"), "InboxPage"),
});
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
  component: lazyRouteComponent(conversation, "ChannelPage"),
});
const dm = createRoute({
  getParentRoute: () => root,
  path: "/dm/$name",
  validateSearch: (search): { at?: number; thread?: number; as?: string } => ({
    at: id(search["at"]),
    thread: id(search["thread"]),
    as: typeof search["as"] === "string" ? search["as"] : undefined,
  }),
  component: lazyRouteComponent(conversation, "DmPage"),
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
  component: lazyRouteComponent(() => import("./pages/welcome/WelcomePage"), "WelcomePage"),
});

const channelSettings = createRoute({
  getParentRoute: () => root,
  path: "/channels/$name/settings",
  component: lazyRouteComponent(() => import("./pages/channel/ChannelSettingsPage"), "ChannelSettingsPage"),
});
const channelBoard = createRoute({
  getParentRoute: () => root,
  path: "/channels/$name/board",
  validateSearch: boardSearch,
  component: lazyRouteComponent(() => import("./pages/board/ChannelBoardPage"), "ChannelBoardPage"),
});
const board = createRoute({
  getParentRoute: () => root,
  path: "/board",
  validateSearch: boardSearch,
  component: lazyRouteComponent(() => import("./pages/board/BoardPage"), "BoardPage"),
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
  component: lazyRouteComponent(() => import("./pages/traces/TracesPage"), "TracesPage"),
});
const deliveries = createRoute({
  getParentRoute: () => root,
  path: "/deliveries",
  validateSearch: deliverySearch,
  component: lazyRouteComponent(() => import("./pages/deliveries/DeliveriesPage"), "DeliveriesPage"),
});
const runs = createRoute({
  getParentRoute: () => root,
  path: "/runs",
  validateSearch: runSearch,
  component: lazyRouteComponent(() => import("./pages/runs/RunsPage"), "RunsPage"),
});
const run = createRoute({
  getParentRoute: () => root,
  path: "/runs/$id",
  component: lazyRouteComponent(() => import("./pages/runs/RunPage"), "RunPage"),
});
const automation = createRoute({
  getParentRoute: () => root,
  path: "/automation",
  component: lazyRouteComponent(() => import("./pages/automation/AutomationPage"), "AutomationPage"),
});
const search = createRoute({
  getParentRoute: () => root,
  path: "/search",
  validateSearch: searchIn,
  component: lazyRouteComponent(() => import("./pages/search/SearchPage"), "SearchPage"),
});
const attachments = createRoute({
  getParentRoute: () => root,
  path: "/attachments",
  component: lazyRouteComponent(() => import("./pages/attachments/AttachmentsPage"), "AttachmentsPage"),
});
const admin = createRoute({
  getParentRoute: () => root,
  path: "/admin",
  validateSearch: adminSearch,
  component: lazyRouteComponent(() => import("./pages/admin/AdminPage"), "AdminPage"),
});
const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  component: lazyRouteComponent(() => import("./pages/settings/SettingsLayout"), "SettingsLayout"),
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
  component: lazyRouteComponent(() => import("./pages/settings/ProfilePage"), "ProfilePage"),
});
const keys = createRoute({
  getParentRoute: () => settings,
  path: "/keys",
  component: lazyRouteComponent(() => import("./pages/settings/KeysPage"), "KeysPage"),
});
const apps = createRoute({
  getParentRoute: () => settings,
  path: "/apps",
  component: lazyRouteComponent(() => import("./pages/settings/AppsPage"), "AppsPage"),
});
const hooks = createRoute({
  getParentRoute: () => settings,
  path: "/hooks",
  validateSearch: (search): { hook?: string } => ({ hook: search["hook"] === undefined ? undefined : String(search["hook"]) }),
  component: lazyRouteComponent(() => import("./pages/hooks/HooksPage"), "HooksPage"),
});
const notifications = createRoute({
  getParentRoute: () => settings,
  path: "/notifications",
  component: lazyRouteComponent(() => import("./pages/settings/NotificationsPage"), "NotificationsPage"),
});
const appearance = createRoute({
  getParentRoute: () => settings,
  path: "/appearance",
  component: lazyRouteComponent(() => import("./pages/settings/AppearancePage"), "AppearancePage"),
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
