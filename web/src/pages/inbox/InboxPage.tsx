import { useQuery } from "@tanstack/react-query";
import { Link, getRouteApi } from "@tanstack/react-router";

import { WelcomeCard } from "../../agents/WelcomeCard";
import { meQuery } from "../../api/queries";
import { unreadIn } from "../../shell/title";
import { Button } from "../../ui/Button";
import { Page } from "../../ui/Page";
import { Failed, Skeleton } from "../../ui/States";
import { Tabs } from "../../ui/Tabs";
import { EmptyInbox } from "./EmptyInbox";
import { InboxLists } from "./InboxLists";
import { UnconnectedAgents } from "./UnconnectedAgents";
import { countOf, waitingIn } from "./groups";
import type { Part } from "./search";
import { useInbox } from "./useInbox";
import { useReadAll } from "./useMarkRead";

const route = getRouteApi("/inbox");

const TABS: Record<Part, string> = {
  all: "All",
  mentions: "Mentions",
  approvals: "Approvals",
  claimed: "Claimed",
  stale: "Stale",
  unread: "Unread",
};

/** Everything that is new for the person or waits for them. */
export function InboxPage() {
  const { show = "all" } = route.useSearch();
  const navigate = route.useNavigate();
  const me = useQuery(meQuery).data;
  const inbox = useInbox();
  const { groups } = inbox;
  const readAll = useReadAll();
  const counts = groups && {
    all: countOf(groups),
    mentions: groups.mentions.length,
    approvals: groups.approvals.length,
    claimed: groups.claimed.length,
    stale: groups.stale.length,
    unread: unreadIn(groups.unread),
  };
  const waits = groups ? waitingIn(groups) : 0;
  const isEmpty = groups !== undefined && !inbox.isLoading && countOf(groups) === 0 && groups.unread.length === 0;
  return (
    <Page
      title="Inbox"
      subtitle={waits > 0 && !inbox.isLoading ? `${waits} ${waits === 1 ? "item needs" : "items need"} you` : undefined}
      actions={
        groups?.unread.length ? (
          <Button look="plain" onClick={() => void readAll(groups.unread)}>
            Mark all read
          </Button>
        ) : null
      }
    >
      <WelcomeCard />
      <UnconnectedAgents me={me} />
      {inbox.errors.length ? <Failed error={inbox.errors[0]} retry={inbox.retry} /> : null}
      {inbox.isLoading && !inbox.errors.length ? <Skeleton /> : null}
      {isEmpty && !inbox.errors.length ? <EmptyInbox me={me} /> : null}
      {groups && me && counts && !inbox.isLoading && !isEmpty ? (
        <Tabs
          label="Inbox filters"
          value={show}
          onChange={(next) => void navigate({ search: { show: next === "all" ? undefined : next }, replace: true })}
          tabs={(Object.keys(TABS) as Part[]).map((part) => ({
            name: part,
            label: (
              <>
                {TABS[part]} <span className="ml-1 font-normal text-muted tabular-nums">{counts[part]}</span>
              </>
            ),
          }))}
        >
          <InboxLists groups={groups} me={me} show={show} />
          {inbox.hasMoreOpen ? (
            <p className="px-6 py-3 text-muted max-md:px-4">
              Showing only the latest 200.{" "}
              <Link to="/board" className="text-accent underline">
                See the rest on the board</Link>.
            </p>
          ) : null}
        </Tabs>
      ) : null}
    </Page>
  );
}
