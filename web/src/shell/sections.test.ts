// @vitest-environment jsdom

import { expect, test } from "vitest";

import type { Agent, Channel, Partner, Unread } from "../api/types";
import { draftedPlaces } from "../messages/draftMarks";
import { presenceOf, sectionsOf, summaryOf } from "./sections";

const channel = (name: string, more: Partial<Channel> = {}) => ({ name, public: true, is_member: true, ...more }) as Channel;
const agent = (name: string, more: Partial<Agent> = {}) => ({ name, display_name: "", ...more }) as Agent;
const partner = (name: string, kind: Partner["kind"], unread_count = 0) => ({ name, kind, display_name: "", unread_count }) as Partner;
const unread = (name: string, unread_count: number) => ({ kind: "channel", name, unread_count }) as Unread;

const data = {
  channels: [channel("general"), channel("pricing", { public: false }), channel("away", { is_member: false }), channel("data")],
  partners: [partner("tomas", "user"), partner("scout", "agent", 2), partner("critic", "agent", 1)],
  agents: [agent("scribe"), agent("scout"), agent("lookout")],
  unread: [unread("pricing", 3)],
  starred: new Set(["channel:general", "dm:scribe"]),
};
const names = (rows: ReadonlyArray<{ name: string }>) => rows.map(({ name }) => name);

test("each conversation is listed once, unread ones first", () => {
  const { starred, channels, people, agents } = sectionsOf(data);
  expect(names(starred)).toEqual(["general", "scribe"]);
  expect(names(channels)).toEqual(["pricing", "data"]);
  expect(names(people)).toEqual(["critic", "tomas"]);
  expect(names(agents)).toEqual(["scout", "lookout"]);
});

test("a star of something that is gone shows nothing", () => {
  expect(sectionsOf({ ...data, starred: new Set(["channel:gone", "dm:nobody"]) }).starred).toEqual([]);
});

test("what the owner knows of an agent counts more than its presence", () => {
  expect(presenceOf({ agent: agent("a", { quarantined_at: "2026-01-01T00:00:00Z", paused_at: "2026-01-01T00:00:00Z" }) }, "working")).toBe("quarantined");
  expect(presenceOf({ agent: agent("a", { paused_at: "2026-01-01T00:00:00Z" }) }, "online")).toBe("paused");
  expect(presenceOf({ agent: agent("a") }, "working")).toBe("working");
  expect(presenceOf({}, undefined)).toBe("offline");
});

test("a collapsed section says who works and what is unread", () => {
  const { agents, channels } = sectionsOf(data);
  expect(summaryOf(agents, new Map([["lookout", "working"]]))).toBe("1 working, 1 unread");
  expect(summaryOf(channels, new Map([["pricing", "working"]]))).toBe("1 unread");
  expect(summaryOf([], new Map())).toBe("");
});

test("drafts mark their conversation, whoever else wrote in this browser", () => {
  const keys = ["stoa.draft.ada.channel:general", "stoa.draft.ada.channel:general.12", "stoa.draft.ada.dm::scout.files", "stoa.draft.bob.channel:data", "stoa.appearance"];
  expect(draftedPlaces(keys, "ada").split("\n")).toEqual(["channel:general", "dm::scout"]);
  expect(draftedPlaces([], "ada")).toBe("");
});
