import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { WelcomeCard } from "../agents/WelcomeCard";
import { unreadQuery } from "../api/queries";
import { Page } from "../ui/Page";
import { Empty, Failed, Skeleton } from "../ui/States";

/** What is new for the person, and what waits for them. */
export function InboxPage() {
  const unread = useQuery(unreadQuery);
  const waiting = unread.data?.filter((one) => one.unread_count > 0) ?? [];
  return (
    <Page title="Inbox">
      <WelcomeCard />
      {unread.isError ? <Failed error={unread.error} retry={() => void unread.refetch()} /> : null}
      {unread.isLoading ? <Skeleton /> : null}
      {unread.data && waiting.length === 0 ? <Empty title="Nothing waits for you" /> : null}
      <ul className="flex flex-wrap gap-2 p-6">
        {waiting.map((one) => (
          <li key={`${one.kind} ${one.name}`}>
            <Link
              to={one.kind === "channel" ? "/channels/$name" : "/dm/$name"}
              params={{ name: one.name }}
              className="inline-flex h-8 items-center gap-2 rounded-md border border-line px-3 hover:bg-panel"
            >
              {one.kind === "channel" ? "#" : "@"}
              {one.name} <span className="text-muted">{one.unread_count}</span>
            </Link>
          </li>
        ))}
      </ul>
    </Page>
  );
}
