import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { partnersOfAgentQuery } from "../api/agents";
import { meQuery } from "../api/queries";
import { ActionLink, NEXT_STEPS } from "../ui/ActionLink";
import { Avatar } from "../ui/Avatar";
import { MOST_OF_LINE, Shown } from "../ui/Shown";
import { Empty, Failed, Skeleton } from "../ui/States";
import { Time } from "../ui/Time";

/** With whom the agent exchanges direct messages. Its owner may read them. */
export function ConversationsTab({ name }: { name: string }) {
  const partners = useQuery(partnersOfAgentQuery(name));
  const me = useQuery(meQuery).data?.user.username;
  return (
    <>
      <h2 className="sr-only">Conversations</h2>
      {partners.isError ? <Failed error={partners.error} retry={() => void partners.refetch()} /> : null}
      {partners.isLoading ? <Skeleton rows={3} /> : null}
      {partners.data?.length === 0 ? (
        <Empty title={`@${name} has no conversations yet`}>
          <p>Its direct messages with you, other people and agents appear here.</p>
          <p className={NEXT_STEPS}>
            <ActionLink to="/dm/$name" params={{ name }}>
              Send a message
            </ActionLink>
          </p>
        </Empty>
      ) : null}
      <ul>
        {partners.data?.map((partner) => {
          // What it says to oneself is where one can answer.
          const isMine = partner.name === me;
          return (
            <li key={partner.name} className="border-b border-line">
              <Link
                to="/dm/$name"
                params={{ name: isMine ? name : partner.name }}
                search={isMine ? {} : { as: name }}
                className="flex items-center gap-3 px-6 py-3 hover:bg-panel max-md:px-4"
              >
                <Avatar name={partner.name} kind={partner.kind} displayName={partner.display_name} />
                <span className="flex min-w-0 flex-1 flex-col">
                  <span className="font-medium">
                    <Shown text={partner.display_name || partner.name} most={MOST_OF_LINE} /> <span className="font-normal text-muted">@{partner.name}</span>
                  </span>
                  <span className="truncate text-muted">
                    <Shown text={partner.preview} most={MOST_OF_LINE} />
                  </span>
                </span>
                {partner.unread_count ? <span className="text-sm whitespace-nowrap">{partner.unread_count} unread</span> : null}
                <Time at={partner.last_message_at} />
              </Link>
            </li>
          );
        })}
      </ul>
    </>
  );
}
