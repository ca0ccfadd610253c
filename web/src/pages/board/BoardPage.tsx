import { useQuery } from "@tanstack/react-query";
import { Link, getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";

import { channelsQuery } from "../../api/queries";
import { MOST_CHANNELS, type Scope } from "../../api/workflow";
import { Page } from "../../ui/Page";
import { Empty, Failed, Skeleton } from "../../ui/States";
import { Board } from "./Board";

const route = getRouteApi("/board");

/** The work of all channels that the person sees. */
export function BoardPage() {
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const channels = useQuery(channelsQuery);
  const names = channels.data?.filter((channel) => channel.workflow_enabled).map((channel) => channel.name) ?? [];
  // One channel of them is asked for alone, so that all of it is there.
  const chosen = filter.channel !== undefined && names.includes(filter.channel) ? [filter.channel] : names.slice(0, MOST_CHANNELS);
  const key = chosen.join(",");
  const scope = useMemo((): Scope => ({ kind: "all", channels: key === "" ? [] : key.split(",") }), [key]);
  return (
    <Page isFlush title="Board" subtitle="Work in all channels">
      {channels.isError ? <Failed error={channels.error} retry={() => void channels.refetch()} /> : null}
      {channels.isLoading ? <Skeleton /> : null}
      {channels.data && names.length === 0 ? (
        <Empty title="No channel has a workflow yet">
          <p>
            Messages become cards in channels with a workflow. Turn it on in the settings of a channel you own, or{" "}
            <Link to="/channels" className="text-accent underline">
              choose a channel
            </Link>
            .
          </p>
        </Empty>
      ) : null}
      {channels.data && names.length > 0 ? (
        <Board
          scope={scope}
          channels={channels.data}
          filter={filter}
          choices={names}
          setFilter={(change) => void navigate({ search: (now) => ({ ...now, ...change }), replace: true })}
          strip={
            <span className="text-sm text-muted">
              {names.length > MOST_CHANNELS ? `the first ${MOST_CHANNELS} of ` : ""}
              {names.length} {names.length === 1 ? "channel" : "channels"} with a workflow
            </span>
          }
        />
      ) : null}
    </Page>
  );
}
