import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, getRouteApi } from "@tanstack/react-router";
import { Check, Hash, X } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";

import { WelcomeCard } from "../../agents/WelcomeCard";
import { sentenceOf } from "../../api/problem";
import { meQuery, partnersQuery } from "../../api/queries";
import type { Me, Message, Unread } from "../../api/types";
import { markRead } from "../../api/workflow";
import { hasSingleKeys } from "../../lib/appearance";
import { areKeysElsewhere } from "../../shell/open";
import { unreadIn } from "../../shell/title";
import { Avatar } from "../../ui/Avatar";
import { Button } from "../../ui/Button";
import { Page } from "../../ui/Page";
import { Empty, Failed, Skeleton } from "../../ui/States";
import { Tabs } from "../../ui/Tabs";
import { toast } from "../../ui/Toasts";
import { RejectDialog } from "../../workflow/RejectDialog";
import { claimantOf } from "../../workflow/moves";
import { titleOf } from "../../workflow/title";
import { useMove } from "../../workflow/useMove";
import { InboxRow, type RowKind, rowId } from "./InboxRow";
import { type Groups, type Item, countOf } from "./groups";
import type { Part } from "./search";
import { useInbox } from "./useInbox";

const route = getRouteApi("/inbox");
const TITLES: Record<RowKind | "unread", string> = {
  mentions: "Mentions",
  approvals: "Waiting for your approval",
  claimed: "Claimed by you and your agents",
  stale: "Work that stands still",
  unread: "Unread",
};
const TABS: Record<Part, string> = {
  all: "All",
  mentions: "Mentions",
  approvals: "Approvals",
  claimed: "Claimed",
  stale: "Stale",
  unread: "Unread",
};
const KINDS: readonly RowKind[] = ["mentions", "approvals", "claimed", "stale"];

/** What is new for the person, and what waits for them. */
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
  const isEmpty = groups !== undefined && !inbox.isLoading && countOf(groups) === 0 && groups.unread.length === 0;
  return (
    <Page
      title="Inbox"
      subtitle={counts && !inbox.isLoading && counts.all > 0 ? `${counts.all} ${counts.all === 1 ? "thing waits" : "things wait"} for you` : undefined}
      actions={
        groups?.unread.length ? (
          <Button look="plain" onClick={() => void readAll(groups.unread)}>
            Mark all read
          </Button>
        ) : null
      }
    >
      <WelcomeCard />
      {inbox.errors.length ? <Failed error={inbox.errors[0]} retry={inbox.retry} /> : null}
      {inbox.isLoading && !inbox.errors.length ? <Skeleton /> : null}
      {isEmpty && !inbox.errors.length ? <NothingWaits me={me} /> : null}
      {groups && me && counts && !inbox.isLoading && !isEmpty ? (
        <Tabs
          label="Parts of the inbox"
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
          <Parts groups={groups} me={me} show={show} />
          {inbox.hasMoreOpen ? (
            <p className="px-6 py-3 text-muted max-md:px-4">
              Only the latest 200 are counted.{" "}
              <Link to="/board" className="text-accent underline">
                The board
              </Link>{" "}
              has the rest.
            </p>
          ) : null}
        </Tabs>
      ) : null}
    </Page>
  );
}

function NothingWaits({ me }: { me: Me | undefined }) {
  return (
    <Empty title="Nothing waits for you">
      <p>
        Mentions, work to approve and what you have claimed appear here.{" "}
        {me?.agents.length ? (
          <>
            See what is happening on the{" "}
            <Link to="/board" className="text-accent underline">
              board
            </Link>
            , or{" "}
          </>
        ) : (
          "Meanwhile, "
        )}
        <Link to="/channels" className="text-accent underline">
          look around the channels
        </Link>
        .
      </p>
    </Empty>
  );
}

/** Marks conversations as read, and knows how far they were read before. */
function useReadAll() {
  const client = useQueryClient();
  const refresh = () => {
    void client.invalidateQueries({ queryKey: ["unread"] });
    void client.invalidateQueries({ queryKey: ["partners"] });
  };
  return async (unread: readonly Unread[]) => {
    try {
      await Promise.all(unread.map((one) => markRead(one)));
      const undo = async () => {
        try {
          await Promise.all(unread.map((one) => markRead(one, one.last_read_message_id ?? 0)));
        } catch (error) {
          toast(sentenceOf(error), { isError: true });
        }
        refresh();
      };
      toast("Everything is marked as read.", { undo: () => void undo() });
    } catch (error) {
      toast(sentenceOf(error), { isError: true });
    }
    refresh();
  };
}

/** Marks a channel as read up to a message that calls the person. */
function useReadUpTo() {
  const client = useQueryClient();
  const mark = async (channel: string, id: number) => {
    await markRead({ kind: "channel", name: channel }, id);
    client.setQueryData<Unread[]>(["unread"], (now) =>
      now?.map((one) => (one.kind === "channel" && one.name === channel ? { ...one, last_read_message_id: id } : one)),
    );
    void client.invalidateQueries({ queryKey: ["unread"] });
  };
  return async (message: Message) => {
    const { channel } = message;
    if (!channel) return;
    const before = client.getQueryData<Unread[]>(["unread"])?.find((one) => one.kind === "channel" && one.name === channel);
    try {
      await mark(channel, message.id);
      toast(`#${channel} is read up to here.`, {
        undo: () => void mark(channel, before?.last_read_message_id ?? 0).catch((error: unknown) => toast(sentenceOf(error), { isError: true })),
      });
    } catch (error) {
      toast(sentenceOf(error), { isError: true });
    }
  };
}

function Parts({ groups, me, show }: { groups: Groups; me: Me; show: Part }) {
  const move = useMove();
  const readUpTo = useReadUpTo();
  const [at, setAt] = useState<string | null>(null);
  const [rejecting, setRejecting] = useState<Message | null>(null);
  const self = me.user.username;
  const own = me.agents.map((agent) => agent.name);
  const shown = KINDS.filter((kind) => (show === "all" || show === kind) && groups[kind].length > 0);
  const rows = shown.flatMap((kind) => groups[kind].map((item) => ({ kind, item, id: rowId(kind, item.message.id) })));
  const open = rows.some((row) => row.id === at) ? at : (rows[0]?.id ?? null);

  /** What settles a row, by its key. */
  const acts = (kind: RowKind, { message }: Item): Record<string, { label: string; icon?: ReactNode; run: () => void; isMain?: boolean }> => {
    const to = (state: Message["workflow_state"]) => () => void move(message, state);
    const isMine = claimantOf(message)?.name === self;
    switch (kind) {
      case "mentions":
        return { e: { label: "Mark read", run: () => void readUpTo(message) } };
      case "approvals":
        return {
          a: { label: "Approve", icon: <Check size={14} aria-hidden="true" />, run: to("approved"), isMain: true },
          x: { label: "Reject", icon: <X size={14} aria-hidden="true" />, run: () => setRejecting(message) },
        };
      case "claimed":
        // Only the holder says that it is done, or gives it back; an agent does so itself.
        return isMine
          ? { d: { label: "Done", icon: <Check size={14} aria-hidden="true" />, run: to("done") }, r: { label: "Release claim", run: to(givenBack(message)) } }
          : {};
      case "stale":
        return message.workflow_state === "in_progress"
          ? {}
          : {
              c: { label: "Claim", run: to("in_progress") },
              ...(message.workflow_state === "proposed" ? { a: { label: "Approve", run: to("approved") } } : {}),
            };
    }
  };
  const wasG = useRef(false);
  const onKey = (event: KeyboardEvent) => {
    const isAfterG = wasG.current;
    wasG.current = event.key === "g";
    const { target } = event;
    if (!(target instanceof Element) || event.metaKey || event.ctrlKey || event.altKey || areKeysElsewhere(target)) return;
    // From elsewhere on the page, letters are for the row that is highlighted.
    const focused = rows.findIndex((row) => row.id === target.closest("li")?.id);
    const place = focused < 0 && event.key.length === 1 ? rows.findIndex((row) => row.id === open) : focused;
    if (place < 0) return;
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    if (step && (event.key.length > 1 || hasSingleKeys())) {
      // The first of them goes to the highlighted row itself.
      const next = rows[focused < 0 ? place : place + step];
      if (!next) return;
      event.preventDefault();
      setAt(next.id);
      document.querySelector<HTMLElement>(`#${next.id} .inbox-title`)?.focus();
      return;
    }
    const row = rows[place]!;
    const act = acts(row.kind, row.item)[event.key];
    if (!act || isAfterG || !hasSingleKeys()) return;
    event.preventDefault();
    // The row goes away; the next one takes its place.
    const next = rows[place + 1] ?? rows[place - 1];
    act.run();
    if (next && event.key !== "x") document.querySelector<HTMLElement>(`#${next.id} .inbox-title`)?.focus();
  };
  const latest = useRef(onKey);
  latest.current = onKey;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => latest.current(event);
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
  return (
    <div className="pb-4">
      {rows.length === 0 && show !== "unread" && show !== "all" ? <Empty title="Nothing here waits for you" /> : null}
      {shown.map((kind) => (
        <section key={kind} aria-label={TITLES[kind]}>
          <h2 className="px-6 pt-4 pb-1 text-sm font-semibold text-muted max-md:px-4">{TITLES[kind]}</h2>
          <ul>
            {groups[kind].map((item) => {
              const id = rowId(kind, item.message.id);
              const title = titleOf(item.message);
              return (
                <InboxRow
                  key={id}
                  kind={kind}
                  item={item}
                  isOpen={open === id}
                  self={self}
                  own={own}
                  onOpen={() => setAt(id)}
                  actions={Object.entries(acts(kind, item)).map(([key, act]) => (
                    <Button
                      key={key}
                      look={act.isMain && open === id ? "filled" : "outlined"}
                      aria-label={`${act.label}: ${title}`}
                      onClick={(event) => {
                        event.stopPropagation();
                        act.run();
                      }}
                    >
                      {act.icon}
                      {act.label}
                      {open === id ? (
                        <kbd aria-hidden="true" className="font-sans text-xs opacity-80 pointer-coarse:hidden">
                          {key}
                        </kbd>
                      ) : null}
                    </Button>
                  ))}
                />
              );
            })}
          </ul>
        </section>
      ))}
      {(show === "all" || show === "unread") && groups.unread.length > 0 ? <UnreadPart unread={groups.unread} /> : null}
      {show === "unread" && groups.unread.length === 0 ? <Empty title="You have read everything" /> : null}
      {rejecting ? (
        <RejectDialog message={rejecting} reject={() => move(rejecting, "rejected")} onClose={() => setRejecting(null)} />
      ) : null}
    </div>
  );
}

/** The state that a message has without its claim. */
function givenBack(message: Message): Message["workflow_state"] {
  return message.reactions.some(({ reaction }) => reaction === "approve") ? "approved" : "proposed";
}

function UnreadPart({ unread }: { unread: readonly Unread[] }) {
  const partners = useQuery(partnersQuery).data;
  const partnerOf = (name: string) => partners?.find((one) => one.name === name);
  return (
    <section aria-label={TITLES.unread}>
      <h2 className="px-6 pt-4 pb-2 text-sm font-semibold text-muted max-md:px-4">{TITLES.unread}</h2>
      <ul className="flex flex-wrap gap-2 px-6 max-md:px-4">
        {unread.map((one) => (
          <li key={`${one.kind} ${one.name}`}>
            <Link
              to={one.kind === "channel" ? "/channels/$name" : "/dm/$name"}
              params={{ name: one.name }}
              className="inline-flex h-8 items-center gap-2 rounded-md border border-line px-3 hover:bg-panel pointer-coarse:h-11"
            >
              {one.kind === "channel" ? (
                <Hash size={14} aria-label="Channel" className="text-muted" />
              ) : (
                <Avatar
                  name={one.name}
                  kind={partnerOf(one.name)?.kind ?? "user"}
                  displayName={partnerOf(one.name)?.display_name}
                  size="small"
                />
              )}
              {one.name}
              <span className="text-muted tabular-nums">
                {one.unread_count >= 100 ? "100+" : one.unread_count}
                <span className="sr-only"> unread</span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
