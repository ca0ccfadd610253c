// Work is visible wherever a message is: in direct messages, in channels and in threads.

import { equal, until } from "./frame.mjs";

const article = (page, text) => page.locator("article[id^=m]", { hasText: text });
const fits = (page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

async function write(page, label, text) {
  await page.getByLabel(label).fill(text);
  await page.keyboard.press("Enter");
  await article(page, text).first().waitFor();
}

/** The next message in the inbox of an agent, which it claims by that. */
const claim = async (agent) => (await agent.call("POST", "/api/inbox/claim")).items[0];

/** An agent that reads its inbox by itself: a message to it waits, is claimed, fails, is sent again, and is done. */
export async function passiveAgent({ hub, watcher }) {
  const scribe = await hub.agent("scribe", "Scribe");
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/dm/scribe`);
  await page.getByRole("heading", { level: 1, name: "Scribe", exact: true }).waitFor();
  await page.getByText("No client has connected yet").waitFor();
  await write(page, "Message @scribe", "Write section 4");
  const asked = article(page, "Write section 4").first();
  await asked.getByText(/Waiting/).waitFor();
  await asked.getByText("The agent reads it when it next checks its inbox.").waitFor();
  equal(await asked.getByText("Not started").count(), 0, "faults");
  await watcher.checkAccess(page, "a message that waits in an inbox");

  const { id } = await claim(scribe);
  await asked.getByText("Claimed by @scribe").waitFor();
  await scribe.call("POST", `/api/messages/${id}/fail`, { error: "Revision 7 was saved meanwhile." });
  await asked.getByText(/Failed/).first().waitFor();
  await asked.getByText("Revision 7 was saved meanwhile.").waitFor();
  // The reply of the agent is no ordinary word.
  await page.locator("article", { hasText: "Revision 7 was saved meanwhile." }).last().getByText(/Failed/).waitFor();
  await watcher.checkAccess(page, "a message that failed");

  // It is sent again once, also after a reload.
  await asked.getByRole("button", { name: `Retry message ${id}` }).click();
  await asked.getByText("Sent again below").waitFor();
  await until("there are two", async () => (await page.getByText("Write section 4", { exact: true }).count()) === 2);
  await page.reload();
  await asked.getByText("Sent again below").waitFor();
  const again = await claim(scribe);
  equal(again.body, "Write section 4", "what was sent again");
  await scribe.call("POST", `/api/messages/${again.id}/done`, {});
  await article(page, "Write section 4").last().getByText(/Done/).waitFor();

  // A message that waits is taken back, and its text with it.
  await write(page, "Message @scribe", "Never mind");
  await article(page, "Never mind").getByRole("button", { name: "Withdraw" }).click();
  await until("the text is back", async () => (await page.getByLabel("Message @scribe").inputValue()) === "Never mind");
  equal((await scribe.call("GET", "/api/inbox")).items.length, 0, "what the agent still finds");
  await page.getByLabel("Message @scribe").fill("");

  // The same holds for a mention in a channel, and it fits a phone.
  await page.goto(`${hub.url}/channels/general`);
  await write(page, "Message #general", "@scribe, please look");
  const called = article(page, "please look").first();
  await called.getByText(/@scribe: Waiting/).waitFor();
  const mention = await claim(scribe);
  await called.getByText("Claimed by @scribe").waitFor();
  await scribe.call("POST", `/api/messages/${mention.id}/done`, {});
  await called.getByText(/@scribe: Done/).waitFor();
  await page.setViewportSize({ width: 360, height: 740 });
  for (const path of ["/channels/general", "/dm/scribe"]) {
    await page.goto(hub.url + path);
    await page.getByText(/Done/).first().waitFor();
    equal(await fits(page), true, `whether ${path} fits a phone`);
    await watcher.checkAccess(page, `${path} on a phone`);
  }
}

/** Talk has no buttons. What is proposed waits on the board until it is approved and done; talk becomes work, and talk again. */
export async function talkAndWork({ hub, watcher }) {
  const scribe = await hub.agent("scribe", "Scribe");
  await hub.admin.call("POST", "/api/channels", { name: "work" });
  await hub.admin.call("PUT", "/api/channels/work/settings", { workflow_enabled: true });
  await scribe.call("POST", "/api/channels/work/join");
  await scribe.say("work", "Thanks!");
  const draft = await scribe.say("work", "Section 2 is ready", { action_type: "publish" });
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/work`);
  const [talk, proposal] = [article(page, "Thanks!"), article(page, "Section 2 is ready")];
  await proposal.getByText("Proposed").getByText("publish").waitFor();
  equal(await talk.getByRole("button").filter({ hasText: /Approve|Reject|Claim/ }).count(), 0, "buttons of talk");
  equal(await talk.getByText("Proposed").count(), 0, "states of talk");
  await proposal.getByRole("button", { name: "Approve" }).click();
  await proposal.getByText("Approved").waitFor();
  await proposal.getByRole("button", { name: "Claim" }).click();
  await proposal.getByRole("button", { name: "Done" }).click();
  await proposal.getByText(/Done.*by you/).waitFor();
  await until("the hub knows", async () => (await hub.admin.call("GET", `/api/messages/${draft.id}`)).workflow_state === "done");

  // Keys that decide do nothing to talk.
  await talk.focus();
  await page.keyboard.press("a");
  await page.getByText("This message is talk. Turn it into work first.").waitFor();

  // One proposes something oneself: the kind is remembered, the switch is not.
  await page.getByRole("switch", { name: "Propose" }).click();
  await page.getByText("Goes to the board and waits for approval.").waitFor();
  await page.getByLabel("Kind of work").fill("two words");
  await page.getByText("Use up to 64 of a-z, 0-9, _, . and -.").waitFor();
  await page.getByLabel("Message #work").fill("Ask three customers");
  equal(await page.getByRole("button", { name: "Propose", exact: true }).isDisabled(), true, "whether a wrong kind is refused");
  await page.getByLabel("Kind of work").fill("research");
  await watcher.checkAccess(page, "a proposal that is written");
  await page.getByRole("button", { name: "Propose", exact: true }).click();
  const own = article(page, "Ask three customers");
  await own.getByText("research").waitFor();
  await own.getByRole("button", { name: "Claim" }).waitFor();
  equal(await own.getByRole("button", { name: "Approve" }).count(), 0, "approvals of what a person proposes");
  equal(await page.getByRole("switch", { name: "Propose" }).isChecked(), false, "whether the next message is talk");
  await page.getByRole("switch", { name: "Propose" }).click();
  equal(await page.getByLabel("Kind of work").inputValue(), "research", "the kind that is remembered");
  await page.getByRole("switch", { name: "Propose" }).click();

  // Talk becomes work, and talk again.
  await write(page, "Message #work", "We should test it");
  const mine = article(page, "We should test it");
  equal(await mine.getByText("Proposed").count(), 0, "states of what was just said");
  await mine.getByRole("button", { name: "Message actions" }).click();
  equal(await page.getByRole("menuitemcheckbox").count(), 0, "decisions that are offered for talk");
  await page.getByRole("menuitem", { name: "Turn into work…" }).click();
  await page.getByRole("dialog").getByLabel("Kind of work").fill("review");
  await watcher.checkAccess(page, "turning talk into work");
  await page.getByRole("dialog").getByRole("button", { name: "Turn into work" }).click();
  await mine.getByText("review").waitFor();
  await page.getByRole("link", { name: "Board" }).last().click();
  const board = page.getByRole("region", { name: "Proposed", exact: true });
  await board.getByText("We should test it").waitFor();
  equal(await page.getByText("Thanks!").count(), 0, "talk on the board");
  await page.goto(`${hub.url}/channels/work`);
  await mine.getByRole("button", { name: "Message actions" }).click();
  await page.getByRole("menuitem", { name: "Make it talk again" }).click();
  await mine.getByText("Proposed").waitFor({ state: "detached" });
  await page.setViewportSize({ width: 360, height: 740 });
  await page.getByRole("switch", { name: "Propose" }).click();
  equal(await fits(page), true, "whether a proposal fits a phone");
  await watcher.checkAccess(page, "a proposal on a phone");
}

/** The menu of a conversation with an agent: pause it, mark it unread. Nobody can write to the hub itself. */
export async function agentMenu({ hub, watcher }) {
  const scribe = await hub.agent("scribe", "Scribe");
  await scribe.dm("admin", "Section 4 is ready");
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/dm/scribe`);
  await article(page, "Section 4 is ready").waitFor();
  const unread = async () => (await hub.admin.call("GET", "/api/notifications/unread")).find(({ name }) => name === "scribe").unread_count;
  await until("it is read", async () => (await unread()) === 0);
  const menu = page.getByRole("button", { name: "Actions for @scribe" });
  await menu.click();
  await page.getByRole("menuitem", { name: "Run settings" }).waitFor();
  await watcher.checkAccess(page, "the menu of a conversation with an agent");
  await page.getByRole("menuitem", { name: "Mark unread" }).click();
  await until("it is unread", async () => (await unread()) === 1);
  await page.waitForTimeout(1500);
  equal(await unread(), 1, "what is unread while one stays");
  await menu.click();
  await page.getByRole("menuitem", { name: "Pause Scribe" }).click();
  await page.getByText("Paused", { exact: true }).waitFor();
  await menu.click();
  await page.getByRole("menuitem", { name: "Resume Scribe" }).click();
  await page.getByText("Paused", { exact: true }).waitFor({ state: "detached" });

  // The hub tells the owner of something, and says that nobody reads what they would answer.
  await page.goto(`${hub.url}/dm/system`);
  await page.getByText("Nobody reads replies to @system.").waitFor();
  equal(await page.getByRole("textbox").count(), 0, "fields to write into");
}
