import { expect, test } from "vitest";

import type { Channel, Me, Message, Unread } from "../../api/types";
import { type Waiting, countOf, groupsOf, ownWorkflows, withNews } from "./groups";

const HOUR = 3_600_000;
const at = (hours: number) => new Date(hours * HOUR).toISOString();
const me = { user: { username: "mira" }, agents: [{ name: "scout" }] } as unknown as Me;
const channel = (name: string, more: object = {}) =>
  ({ name, workflow_enabled: true, is_member: true, stalemate_remind_after: "24h", stalemate_escalate_after: "72h", ...more }) as Channel;
const message = (id: number, more: object = {}) =>
  ({
    id,
    channel: "work",
    from: { kind: "agent", name: "scribe" },
    workflow_state: "proposed",
    status: "pending",
    reactions: [],
    mentions: [],
    created_at: at(100 - id),
    ...more,
  }) as unknown as Message;
const claimed = (id: number, by: string, more: object = {}) =>
  message(id, { workflow_state: "in_progress", reactions: [{ reaction: "in_progress", from: { name: by }, created_at: at(50) }], ...more });
const nothing: Waiting = { me, channels: [channel("work")], mentions: [], claims: [], open: [], unread: [], now: 51 * HOUR };
const ids = (items: Array<{ message: Message }>) => items.map((item) => item.message.id);

test("agents’ proposals wait for approval, the oldest first, where one is a member and messages are work", () => {
  const channels = [channel("work"), channel("other", { is_member: false }), channel("talk", { workflow_enabled: false })];
  const open = [
    message(60),
    message(61),
    message(1, { from: { kind: "user", name: "tomas" }, created_at: at(51) }),
    message(2, { status: "done" }),
    message(3, { channel: "other" }),
    message(4, { channel: "talk" }),
    message(5, { workflow_state: "approved" }),
  ];
  const groups = groupsOf({ ...nothing, channels, open });
  expect(ids(groups.approvals)).toEqual([61, 60]);
  expect(ids(groups.stale)).toEqual([]);
  expect(ownWorkflows(channels)).toEqual(["work"]);
});

test("claims of one’s own and one’s agents are there wherever they are; those of others only when they stand still", () => {
  const claims = [claimed(1, "mira", { channel: null, to: "mira" }), claimed(2, "scout"), claimed(3, "porter")];
  expect(ids(groupsOf({ ...nothing, claims }).claimed)).toEqual([1, 2]);
  expect(ids(groupsOf({ ...nothing, claims }).stale)).toEqual([]);
  const later = groupsOf({ ...nothing, claims, now: 80 * HOUR });
  expect(ids(later.stale)).toEqual([3]);
  expect(ids(later.claimed)).toEqual([1, 2]);
  expect(countOf(later)).toBe(3);
});

test("what people proposed is asked for only when it stands still", () => {
  const open = [message(90, { from: { kind: "user", name: "tomas" } })];
  expect(ids(groupsOf({ ...nothing, open, now: 20 * HOUR }).stale)).toEqual([]);
  expect(ids(groupsOf({ ...nothing, open, now: 50 * HOUR }).stale)).toEqual([90]);
});

test("mentions wait until they are read", () => {
  const unread = [
    { kind: "channel", name: "work", unread_count: 2, last_message_id: 9, last_read_message_id: 5 },
    { kind: "channel", name: "quiet", unread_count: 0, last_message_id: 4, last_read_message_id: null },
    { kind: "channel", name: "read", unread_count: 0, last_message_id: 4, last_read_message_id: 4 },
    { kind: "dm", name: "tomas", unread_count: 1, last_message_id: 8, last_read_message_id: 2 },
  ] as Unread[];
  const mentions = [
    message(9, { mentions: ["mira"] }),
    message(8, { mentions: ["channel"] }),
    message(7, { mentions: ["tomas"] }),
    message(6, { mentions: ["mira"], from: { kind: "user", name: "mira" } }),
    message(5, { mentions: ["mira"] }),
  ];
  const groups = groupsOf({ ...nothing, mentions, unread });
  expect(ids(groups.mentions)).toEqual([9, 8]);
  expect(groups.unread.map(({ name }) => name)).toEqual(["work", "tomas"]);
  expect(withNews(unread)).toEqual(["quiet", "work"]);
});

test("work that mentions the person is listed and counted once", () => {
  const unread = [{ kind: "channel", name: "work", unread_count: 3, last_message_id: 9, last_read_message_id: 5 }] as Unread[];
  const [proposal, claim, talk] = [message(9, { mentions: ["mira"] }), claimed(8, "mira", { mentions: ["channel"] }), message(7, { mentions: ["mira"], workflow_state: null })];
  const groups = groupsOf({ ...nothing, mentions: [proposal, claim, talk], claims: [claim], open: [proposal], unread });
  expect([ids(groups.mentions), ids(groups.approvals), ids(groups.claimed)]).toEqual([[7], [9], [8]]);
  expect(countOf(groups)).toBe(3);
  const settled = { ...proposal, workflow_state: "rejected", reactions: [{ reaction: "reject", from: { name: "mira" } }] } as Message;
  expect(countOf(groupsOf({ ...nothing, mentions: [settled], unread }))).toBe(0);
});
