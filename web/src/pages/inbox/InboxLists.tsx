import { useState } from "react";

import type { Me, Message } from "../../api/types";
import { ActionLink, NEXT_STEPS } from "../../ui/ActionLink";
import { Empty } from "../../ui/States";
import { Reject } from "../../workflow/Reject";
import { titleOf } from "../../workflow/title";
import { useMove } from "../../workflow/useMove";
import { InboxRow, type RowKind, rowId } from "./InboxRow";
import { RowButtons } from "./RowButtons";
import { UnreadList } from "./UnreadList";
import type { Groups } from "./groups";
import type { Part } from "./search";
import { ABOUT, TITLES } from "./titles";
import { useInboxKeys } from "./useInboxKeys";
import { useRowActions } from "./useRowActions";

const KINDS: readonly RowKind[] = ["mentions", "approvals", "claimed", "stale"];

/** The lists of what waits for the person, with the keyboard in them. */
export function InboxLists({ groups, me, show }: { groups: Groups; me: Me; show: Part }) {
  const move = useMove();
  const [at, setAt] = useState<string | null>(null);
  const [rejecting, setRejecting] = useState<Message | null>(null);
  const self = me.user.username;
  const own = me.agents.map((agent) => agent.name);
  const shown = KINDS.filter((kind) => (show === "all" || show === kind) && groups[kind].length > 0);
  const rows = shown.flatMap((kind) => groups[kind].map((item) => ({ kind, item, id: rowId(kind, item.message.id) })));
  const open = rows.some((row) => row.id === at) ? at : (rows[0]?.id ?? null);

  const actionsOf = useRowActions(self, setRejecting);
  useInboxKeys({ rows, open, setAt, actionsOf });
  return (
    <div className="pb-4">
      {rows.length === 0 && show !== "unread" && show !== "all" ? (
        <Empty title="Nothing here needs you">
          <p>{ABOUT[show]}</p>
          <ShowAllParts />
        </Empty>
      ) : null}
      {shown.map((kind) => (
        <section key={kind} aria-label={TITLES[kind]}>
          <h2 className="px-6 pt-4 pb-1 text-sm font-semibold text-muted max-md:px-4">
            {TITLES[kind]}
            {kind === "stale" ? <span className="font-normal"> · no change for longer than the channel allows</span> : null}
          </h2>
          <ul>
            {groups[kind].map((item) => {
              const id = rowId(kind, item.message.id);
              return (
                <InboxRow
                  key={id}
                  kind={kind}
                  item={item}
                  isOpen={open === id}
                  self={self}
                  own={own}
                  onOpen={() => setAt(id)}
                  actions={<RowButtons actions={actionsOf(kind, item)} title={titleOf(item.message)} isOpen={open === id} />}
                />
              );
            })}
          </ul>
        </section>
      ))}
      {(show === "all" || show === "unread") && groups.unread.length > 0 ? <UnreadList unread={groups.unread} /> : null}
      {show === "unread" && groups.unread.length === 0 ? (
        <Empty title="No unread messages">
          <p>New messages in your channels and direct messages appear here.</p>
          <ShowAllParts />
        </Empty>
      ) : null}
      {rejecting ? (
        <Reject message={rejecting} reject={() => move(rejecting, "rejected")} onClose={() => setRejecting(null)} />
      ) : null}
    </div>
  );
}

function ShowAllParts() {
  return (
    <p className={NEXT_STEPS}>
      <ActionLink to="/inbox">Show the whole inbox</ActionLink>
    </p>
  );
}
