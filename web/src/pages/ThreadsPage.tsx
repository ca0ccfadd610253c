import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { meQuery, threadsQuery } from "../api/queries";
import { MessageRow } from "../messages/MessageRow";
import { linkTo, placeOf } from "../messages/place";
import { ActionLink, NEXT_STEPS } from "../ui/ActionLink";
import { Page } from "../ui/Page";
import { Empty, Failed, Skeleton } from "../ui/States";
import { VirtualList } from "../ui/VirtualList";

const NONE: never[] = [];

/** Threads with answers that one has not seen. */
export function ThreadsPage() {
  const threads = useQuery(threadsQuery);
  const me = useQuery(meQuery).data;
  return (
    <Page title="Threads">
      {threads.isError ? <Failed error={threads.error} retry={() => void threads.refetch()} /> : null}
      {threads.isLoading ? <Skeleton /> : null}
      {threads.data?.items.length === 0 ? (
        <Empty title="No new replies">
          <p>Replies to your messages, and in threads that you have replied in, appear here until you read them.</p>
          <p className={NEXT_STEPS}>
            <ActionLink to="/channels">Browse channels</ActionLink>
          </p>
        </Empty>
      ) : null}
      <VirtualList rows={threads.data?.items ?? NONE} keyOf={({ message }) => message.id} size={150} isLong rowClass="border-b border-line py-2">
        {(thread) => (
          <>
            <p className="px-6 pt-1 text-sm text-muted">
              <Link {...linkTo(placeOf(thread.message, me), { thread: thread.message.id })} className="text-accent hover:underline">
                {thread.message.channel ? `#${thread.message.channel}` : "Direct message"}
              </Link>{" "}
              · {thread.new_replies} new
            </p>
            <MessageRow message={thread.message} />
          </>
        )}
      </VirtualList>
    </Page>
  );
}
