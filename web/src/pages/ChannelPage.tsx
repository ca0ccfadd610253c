import { useQuery } from "@tanstack/react-query";
import { Link, getRouteApi } from "@tanstack/react-router";
import { Settings2 } from "lucide-react";
import { Suspense, lazy, useCallback, useMemo } from "react";

import { Problem } from "../api/problem";
import { channelQuery } from "../api/queries";
import type { Place } from "../api/types";
import { Composer } from "../messages/Composer";
import { DropZone } from "../messages/DropZone";
import { MessageList } from "../messages/MessageList";
import { draftKey } from "../messages/drafts";
import { StarButton } from "../shell/StarButton";
import { Page } from "../ui/Page";
import { Failed } from "../ui/States";
import { laterPart } from "../ui/laterPart";
import { NotFound } from "./NotFound";
import { ChannelSubtitle } from "./channel/ChannelSubtitle";
import { ChannelViews } from "./channel/ChannelViews";
import { MembersButton } from "./channel/MembersButton";

// The channel is of use without it, also if the connection breaks before it is there.
const EmptyChannel = laterPart(() => import("./channel/EmptyChannel").then((part) => part.default));
const ThreadPane = lazy(() => import("../messages/ThreadPane"));

const route = getRouteApi("/channels/$name");

export function ChannelPage() {
  const { name } = route.useParams();
  const { at, thread } = route.useSearch();
  const navigate = route.useNavigate();
  const channel = useQuery(channelQuery(name));
  const place = useMemo((): Place => ({ kind: "channel", name }), [name]);
  const onThread = (id: number | undefined) => void navigate({ search: (now) => ({ ...now, thread: id }) });
  const onLeave = useCallback(() => void navigate({ search: (now) => ({ ...now, at: undefined }), replace: true }), [navigate]);
  if (channel.error instanceof Problem && channel.error.status === 404) return <NotFound />;
  if (channel.isError && !channel.data) return <Failed error={channel.error} retry={() => void channel.refetch()} />;
  const details = channel.data;
  return (
    <>
      <Page
        key={name}
        isFlush
        title={`# ${name}`}
        subtitle={details ? <ChannelSubtitle details={details} /> : undefined}
        actions={
          <>
            {/* On a phone it would take a line of its own; the palette has the command, too. */}
            <StarButton id={`channel:${name}`} className="max-sm:hidden" />
            {details ? <MembersButton details={details} /> : null}
            <ChannelViews name={name} />
            <Link
              to="/channels/$name/settings"
              params={{ name }}
              aria-label="Channel settings"
              title="Channel settings"
              className="inline-flex size-7 items-center justify-center rounded-md text-muted hover:bg-panel hover:text-fg pointer-coarse:size-11"
            >
              <Settings2 size={16} aria-hidden="true" />
            </Link>
          </>
        }
      >
        <DropZone draft={draftKey(place)}>
          <MessageList place={place} at={at} onThread={onThread} onLeave={onLeave} empty={details ? <EmptyChannel details={details} /> : undefined} />
          <Composer place={place} placeholder={`Message #${name}`} hasWork={details?.channel.workflow_enabled} />
        </DropZone>
      </Page>
      {thread === undefined ? null : (
        <Suspense>
          <ThreadPane key={thread} id={thread} place={place} onClose={() => onThread(undefined)} />
        </Suspense>
      )}
    </>
  );
}
