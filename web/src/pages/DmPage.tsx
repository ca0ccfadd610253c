import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Suspense, lazy, useCallback, useMemo } from "react";

import { conversationQuery } from "../api/queries";
import type { Place } from "../api/types";
import { Composer } from "../messages/Composer";
import { DropZone } from "../messages/DropZone";
import { MessageList } from "../messages/MessageList";
import { draftKey } from "../messages/drafts";
import { StarButton } from "../shell/StarButton";
import { Avatar } from "../ui/Avatar";
import { Page } from "../ui/Page";
import { useDmPartner } from "./dm/useDmPartner";

const AgentFacts = lazy(() => import("./dm/AgentFacts"));
const AgentDmMenu = lazy(() => import("./dm/AgentDmMenu"));
const NextRead = lazy(() => import("./dm/NextRead"));
const ThreadPane = lazy(() => import("../messages/ThreadPane"));

const route = getRouteApi("/dm/$name");

/** The hub's own name. */
const SYSTEM = "system";

/** That there is something, whatever is in it. */
const isThere = () => true;

export function DmPage() {
  const { name } = route.useParams();
  const { at, thread, as } = route.useSearch();
  const navigate = route.useNavigate();
  const place = useMemo((): Place => ({ kind: "dm", name, as }), [name, as]);
  // Whose agent it is, the hub knows: only what it shows is told of as the person's.
  const isShown = useQuery({ ...conversationQuery(place), enabled: as !== undefined, select: isThere }).data;
  const { isAgent, own, displayName, title } = useDmPartner(name);
  const onThread = (id: number | undefined) => void navigate({ search: (now) => ({ ...now, thread: id }) });
  const onLeave = useCallback(() => void navigate({ search: (now) => ({ ...now, at: undefined }), replace: true }), [navigate]);
  const list = <MessageList place={place} at={at} onThread={onThread} onLeave={onLeave} />;
  const isOwnView = isAgent && !as;
  return (
    <>
      <Page
        key={`${name} ${as ?? ""}`}
        isFlush
        title={as ? `@${name}` : title}
        icon={isOwnView ? <Avatar name={name} kind="agent" displayName={displayName} /> : undefined}
        subtitle={
          as && isShown ? (
            `Conversation between @${as} and @${name}`
          ) : isOwnView ? (
            <Suspense>
              <AgentFacts name={name} own={own} isNamed={title === `@${name}`} />
            </Suspense>
          ) : undefined
        }
        actions={
          as ? undefined : (
            <>
              <StarButton id={`dm:${name}`} />
              {isOwnView ? (
                <Suspense>
                  <AgentDmMenu name={name} own={own} />
                </Suspense>
              ) : null}
            </>
          )
        }
      >
        {as ? (
          <>
            {list}
            {isShown ? <Foot>You can read this as the owner of @{as}. Only the two of them can post here.</Foot> : null}
          </>
        ) : name === SYSTEM ? (
          <>
            {list}
            <Foot>These are messages from the hub. Nobody reads replies to @system.</Foot>
          </>
        ) : (
          <DropZone draft={draftKey(place)}>
            {list}
            {own ? (
              <Suspense>
                <NextRead agent={own} displayName={displayName} />
              </Suspense>
            ) : null}
            <Composer place={place} placeholder={`Message @${name}`} />
          </DropZone>
        )}
      </Page>
      {thread === undefined ? null : (
        <Suspense>
          <ThreadPane key={thread} id={thread} place={place} onClose={() => onThread(undefined)} />
        </Suspense>
      )}
    </>
  );
}

function Foot({ children }: { children: React.ReactNode }) {
  return <p className="border-t border-line px-6 py-3 text-muted">{children}</p>;
}
