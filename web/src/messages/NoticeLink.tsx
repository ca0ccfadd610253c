import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { messageQuery } from "../api/queries";
import type { Message } from "../api/types";
import { RunLink } from "../runs/RunLink";
import { useMe } from "../shell/me";
import { lapsedIn, runIn, webhookAgentIn } from "./notice";
import { linkTo, placeOf } from "./place";

const LINK = "inline-flex min-h-6 items-center text-sm text-accent hover:underline";

/** Leads from a notice of the hub to what it is about: a message, a run, or the webhooks of an agent. */
export default function NoticeLink({ notice }: { notice: Message }) {
  const me = useMe();
  const about = lapsedIn(notice);
  // The notice does not say in whose conversation a direct message is.
  const direct = useQuery({ ...messageQuery(about?.message_id ?? 0), enabled: about !== undefined && !about.channel }).data;
  const agent = webhookAgentIn(notice);
  if (agent !== undefined) {
    return (
      <Link to="/agents/$name" params={{ name: agent }} search={{ tab: "webhooks" }} className={LINK}>
        Open @{agent}'s webhooks
      </Link>
    );
  }
  const run = runIn(notice);
  if (run !== undefined) return <RunLink id={run} label={`Open run ${run}`} />;
  if (!about) return null;
  const place = about.channel ? { kind: "channel" as const, name: about.channel } : direct && placeOf(direct, me);
  return place ? (
    <Link {...linkTo(place, { at: about.message_id })} className={LINK}>
      Open message
    </Link>
  ) : null;
}
