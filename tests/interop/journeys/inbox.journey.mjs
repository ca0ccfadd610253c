// What waits for a person, and what settling it does.

import { equal, until } from "./frame.mjs";

const WORK = { metadata: { action_type: "publish" } };
const part = (page, name) => page.getByRole("region", { name });
const row = (place, text) => place.getByRole("listitem").filter({ hasText: text });

async function trustOf(caller, agent) {
  const trust = await caller.call("GET", `/api/trust/${agent}`);
  return trust.find(({ action_type }) => action_type === "publish")?.score;
}

/** A mention, work to approve and work of one's own are there, are settled there, and the trust in the agent follows. */
export async function inboxSettles({ hub, watcher }) {
  const scribe = await hub.agent("scribe");
  await hub.admin.call("POST", "/api/channels", { name: "work" });
  await hub.admin.call("PUT", "/api/channels/work/settings", { workflow_enabled: true });
  // Three that were approved before: a trust of 0.15.
  for (const at of [1, 2, 3]) {
    const earlier = await scribe.say("work", `Earlier ${at}`, WORK);
    await hub.admin.call("POST", `/api/messages/${earlier.id}/reactions`, { reaction: "approve" });
    await hub.admin.call("POST", `/api/messages/${earlier.id}/reactions`, { reaction: "done" });
  }
  const good = await scribe.say("work", "Good section\n\nWhen the connection drops, the import waits.", WORK);
  const bad = await scribe.say("work", "Bad section, @admin", WORK);
  const own = await hub.admin.say("work", "Mine to do");
  await hub.admin.call("POST", `/api/messages/${own.id}/reactions`, { reaction: "in_progress" });
  const number = await hub.admin.say("general", "It is 42");
  await scribe.say("general", "@admin may I quote that number?", { reply_to: number.id });

  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/inbox`);
  const [mentions, approvals, claimed] = [part(page, "Mentions"), part(page, "Waiting for your approval"), part(page, "Claimed by you")];
  await row(mentions, "may I quote that number").waitFor();
  await row(claimed, "Mine to do").waitFor();
  await page.getByText("3 items need you").waitFor();
  // Work that mentions the person is listed once, as what it asks for.
  await row(approvals, "Bad section").waitFor();
  equal(await row(mentions, "Bad section").count(), 0, "work among the mentions");
  for (const tab of [/^All 4$/, /^Mentions 1$/, /^Approvals 2$/, /^Claimed 1$/]) await page.getByRole("tab", { name: tab }).waitFor();
  await row(mentions, "may I quote").getByRole("link", { name: "in a thread" }).waitFor();
  await watcher.checkAccess(page, "the inbox");

  // By the keyboard: the row that one is at opens, and says what one's word does.
  await row(mentions, "may I quote").getByRole("link").first().focus();
  await page.keyboard.press("ArrowDown");
  await row(approvals, "Good section").getByText("the import waits").waitFor();
  await page.getByText("Approving raises scribe’s trust for publish from 0.15 to 0.20, rejecting lowers it to 0.05.").waitFor();
  await page.keyboard.press("a");
  await row(approvals, "Good section").waitFor({ state: "detached" });
  await until("approving has raised the trust", async () => (await trustOf(hub.admin, "scribe")) === 0.2);
  equal((await hub.admin.call("GET", `/api/messages/${good.id}`)).workflow_state, "approved", "the state of what was approved");

  await page.getByRole("button", { name: /^Reject: Bad section/ }).click();
  await page.getByLabel("Reason").fill("It says nothing");
  await page.getByRole("dialog").getByRole("button", { name: "Reject", exact: true }).click();
  await approvals.waitFor({ state: "detached" });
  await until("rejecting has lowered the trust", async () => (await trustOf(hub.admin, "scribe")) === 0.1);
  equal((await hub.admin.call("GET", `/api/messages/${bad.id}`)).workflow_state, "rejected", "the state of what was rejected");

  await page.getByRole("button", { name: /^Mark read/ }).click();
  await mentions.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Done: Mine to do" }).click();
  await claimed.waitFor({ state: "detached" });
  await until("what was claimed is done", async () => (await hub.admin.call("GET", `/api/messages/${own.id}`)).workflow_state === "done");
  await page.getByRole("button", { name: "Mark all read" }).click();
  await page.getByText("You're all caught up").waitFor();

  // What comes now is there without being asked for.
  await scribe.say("work", "One more section", WORK);
  await row(approvals, "One more section").waitFor();

  await page.goto(`${hub.url}/agents/scribe`);
  const trust = part(page, "Trust per action");
  await trust.getByRole("meter", { name: "Trust in publish" }).waitFor();
  await trust.getByText("0.10", { exact: true }).waitFor();
  await trust.getByText("5 adjustments").waitFor();
  await trust.getByText("Required: 0.8 in #work").waitFor({ state: "attached" });
  await watcher.checkAccess(page, "the trust in an agent");
}

/** A quarantine is said where the agent is, and lifted there. */
export async function quarantine({ hub, watcher }) {
  await hub.agent("scribe");
  // What a hub that judges by reputation does.
  await hub.rewrite(["update agents set quarantined_at = ?", Date.now() - 3_600_000]);
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/agents/scribe`);
  await page.getByText("its reputation fell below 0.3").waitFor();
  equal(await page.locator("header").getByText("Quarantined").count(), 1, "the badge in the title");
  await watcher.checkAccess(page, "an agent in quarantine");
  await page.getByRole("button", { name: "Release from quarantine" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Release from quarantine" }).click();
  await page.locator("header").getByText("Not connected", { exact: true }).waitFor();
  equal((await hub.admin.call("GET", "/api/agents/scribe")).quarantined_at ?? null, null, "the quarantine");
}
