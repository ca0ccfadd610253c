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
import { useMe } from "../shell/me";
import { Page } from "../ui/Page";

const AgentNow = lazy(() => import("../runs/AgentNow"));
const ThreadPane = lazy(() => import("../messages/ThreadPane"));

const route = getRouteApi("/dm/$name");

/** That there is something, whatever is in it. */
const isThere = () => true;

export function DmPage() {
  const { name } = route.useParams();
  const { at, thread, as } = route.useSearch();
  const navigate = route.useNavigate();
  const place = useMemo((): Place => ({ kind: "dm", name, as }), [name, as]);
  // Whose agent it is, the hub knows: only what it shows is told of as the person's.
  const isShown = useQuery({ ...conversationQuery(place), enabled: as !== undefined, select: isThere }).data;
  const isRunnable = useMe()?.agents.some((agent) => agent.name === name && agent.trigger_mode !== "passive");
  const onThread = (id: number | undefined) => void navigate({ search: (now) => ({ ...now, thread: id }) });
  const onLeave = useCallback(() => void navigate({ search: (now) => ({ ...now, at: undefined }), replace: true }), [navigate]);
  return (
    <>
      <Page
        key={`${name} ${as ?? ""}`}
        isFlush
        title={`@${name}`}
        actions={as ? undefined : <StarButton id={`dm:${name}`} />}
        subtitle={
          as && isShown ? (
            `Conversation between @${as} and @${name}`
          ) : isRunnable && !as ? (
            <Suspense>
              <AgentNow name={name} />
            </Suspense>
          ) : undefined
        }
      >
        {as ? (
          <>
            <MessageList place={place} at={at} onThread={onThread} onLeave={onLeave} />
            {isShown ? (
              <p className="border-t border-line px-6 py-3 text-muted">
                You can read this as the owner of @{as}. Only the two of them can post here.
              </p>
            ) : null}
          </>
        ) : (
          <DropZone draft={draftKey(place)}>
            <MessageList place={place} at={at} onThread={onThread} onLeave={onLeave} />
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
