// Work is visible wherever a message is: in direct messages, in channels and in threads.

import { Caller, equal, until } from "./frame.mjs";

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
  await asked.getByText(/Working/).waitFor();
  // The header and the line above the message field say it as well.
  await page.locator("header").getByText(/Working/).waitFor();
  await page.getByText("Scribe is working. It reads your next message when it checks its inbox again.").waitFor();
  await asked.getByRole("button", { name: "Withdraw" }).waitFor();
  await watcher.checkAccess(page, "a message that an agent with an inbox works on");
  await scribe.call("POST", `/api/messages/${id}/fail`, { error: "Revision 7 was saved meanwhile." });
  await asked.getByText(/Failed/).first().waitFor();
  await asked.getByText("Revision 7 was saved meanwhile.").waitFor();
  // The reply of the agent says the same, so it is a quiet line that opens.
  const notice = page.locator("article", { hasText: "@scribe reported the failure above." });
  await notice.waitFor();
  equal(await page.locator("article").getByText("Revision 7 was saved meanwhile.").filter({ visible: true }).count(), 1, "how often the reason is shown");
  await notice.getByText("Show reply").click();
  await notice.getByText("Revision 7 was saved meanwhile.").waitFor();
  await page.getByText("Scribe is working.").waitFor({ state: "detached" });
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
  await called.getByText(/@scribe: Working/).waitFor();
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

/** What appears below a conversation does not cover its last message: the line about an agent that works, or a long text that is written. */
export async function endStaysInSight({ hub, watcher }) {
  const scribe = await hub.agent("scribe", "Scribe");
  for (let part = 1; part <= 20; part++) await hub.admin.dm("scribe", `Part ${part}`);
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/dm/scribe`);
  await article(page, "Part 20").getByRole("button", { name: "Withdraw" }).waitFor();
  const hidden = () => page.getByRole("log").evaluate((list) => Math.round(list.scrollHeight - list.scrollTop - list.clientHeight));
  await until("the end is in sight", async () => (await hidden()) <= 1);
  await claim(scribe);
  await page.getByText("Scribe is working.").waitFor();
  await until("the end is in sight above the line", async () => (await hidden()) <= 1);
  await page.getByLabel("Message @scribe").fill("one\ntwo\nthree\nfour");
  await until("the end is in sight above the text", async () => (await hidden()) <= 1);
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
  await proposal.getByText(/Approved.*by you/).waitFor();
  await proposal.getByText("Anyone in the channel can claim it now. To tell @scribe, mention it in a reply.").waitFor();
  await proposal.getByRole("button", { name: "Claim" }).click();
  await proposal.getByRole("button", { name: "Done" }).click();
  await proposal.getByText(/Done.*by you/).waitFor();
  // What was said before is text: nothing is left to do.
  await proposal.getByText("approved by you", { exact: true }).waitFor();
  equal(await proposal.getByRole("button").filter({ hasText: /approve|claim/i }).count(), 0, "buttons of finished work");
  await until("the hub knows", async () => (await hub.admin.call("GET", `/api/messages/${draft.id}`)).workflow_state === "done");

  // Keys that decide do nothing to talk.
  await talk.focus();
  await page.keyboard.press("a");
  await page.getByText("This message is talk. Turn it into work first.").waitFor();

  // One proposes something oneself: the kind is remembered, the switch is not.
  await page.getByRole("switch", { name: "Propose" }).click();
  await page.getByText("Goes to the board, where others can approve or claim it.", { exact: true }).waitFor();
  await page.getByLabel("Message #work").fill("@scribe, ask three customers");
  await page.getByText("Goes to the board, where others can approve or claim it. @scribe is notified at once.").waitFor();
  await page.getByText("↵ propose").waitFor();
  await page.getByLabel("Kind of work").selectOption("another kind…");
  await page.getByText("Name the kind of work.").waitFor();
  await page.getByLabel("Name of the kind").fill("two words");
  await page.getByText("Use up to 64 of a-z, 0-9, _, . and -.").waitFor();
  await page.getByLabel("Message #work").fill("Ask three customers");
  equal(await page.getByRole("button", { name: "Propose", exact: true }).isDisabled(), true, "whether a wrong kind is refused");
  await page.getByLabel("Kind of work").selectOption("research");
  equal(await page.getByLabel("Name of the kind").count(), 0, "fields for another kind");
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
  await page.getByRole("dialog").getByLabel("Kind of work").selectOption("another kind…");
  await page.getByRole("dialog").getByLabel("Name of the kind").fill("measure");
  await watcher.checkAccess(page, "turning talk into work");
  await page.getByRole("dialog").getByRole("button", { name: "Turn into work" }).click();
  await mine.getByText("measure").waitFor();
  await page.getByText("Turned into work: We should test it").waitFor();
  await page.getByRole("button", { name: "Undo" }).last().click();
  await mine.getByText("Proposed").waitFor({ state: "detached" });
  // A kind that was used once is offered from then on.
  await mine.getByRole("button", { name: "Message actions" }).click();
  await page.getByRole("menuitem", { name: "Turn into work…" }).click();
  equal(await page.getByRole("dialog").getByLabel("Kind of work").inputValue(), "measure", "the kind that is remembered");
  await page.getByRole("dialog").getByLabel("Kind of work").selectOption("publish");
  await page.getByRole("dialog").getByRole("button", { name: "Turn into work" }).click();
  await mine.getByText("publish").waitFor();
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

/** Work that mentions an agent has one line: its state leads, and what the agent does about it is said in words. */
export async function workThatMentions({ hub, watcher }) {
  const scribe = await hub.agent("scribe", "Scribe");
  await hub.admin.call("POST", "/api/channels", { name: "work" });
  await hub.admin.call("PUT", "/api/channels/work/settings", { workflow_enabled: true });
  await scribe.call("POST", "/api/channels/work/join");
  const task = await hub.admin.say("work", "@scribe, write section 5", { action_type: "research" });
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/work`);
  const row = page.locator(`#m${task.id}`);
  const claims = () => row.getByText(/claim/i).count();
  await row.getByText("Proposed").waitFor();
  await row.getByText("@scribe has not started on it").waitFor();
  // What the agent finds in its inbox is no reply.
  equal(await row.getByText(/\d repl/).count(), 0, "replies that nobody wrote");
  const dropped = await hub.admin.say("work", "@scribe, drop this", { action_type: "research" });
  await page.locator(`#m${dropped.id}`).getByText("@scribe has not started on it").waitFor();
  equal(await page.locator(`#m${dropped.id}`).getByText(/\d repl/).count(), 0, "replies that nobody wrote to a new message");
  await hub.admin.call("POST", `/api/messages/${dropped.id}/reactions`, { reaction: "done" });
  await page.locator(`#m${dropped.id}`).getByText(/Done.*by you/).waitFor();
  equal(await page.locator(`#m${dropped.id}`).getByText(/@scribe has|Waiting/).count(), 0, "agents that wait on finished work");
  // The same holds for the copy in the conversation with the agent.
  const other = await watcher.page(await watcher.window(hub.admin));
  await other.goto(`${hub.url}/dm/scribe`);
  await article(other, "write section 5").getByText(/Waiting/).waitFor();
  equal(await article(other, "drop this").getByText(/Waiting/).count(), 0, "copies of finished work that wait");
  await other.close();
  const mention = await claim(scribe);
  await row.getByText(/@scribe is working on it/).waitFor();
  await row.getByText("Proposed").waitFor();
  equal(await claims(), 1, "how often a claim is named");
  await watcher.checkAccess(page, "work that an agent has read");

  // As soon as the agent claims the work itself, the state says it all.
  await scribe.call("POST", `/api/messages/${task.id}/reactions`, { reaction: "in_progress" });
  await row.getByText(/In progress.*@scribe/).waitFor();
  await row.getByText(/is working on it/).waitFor({ state: "detached" });
  equal(await claims(), 0, "claims to make");
  await scribe.call("POST", `/api/messages/${task.id}/reactions`, { reaction: "in_progress" });
  await scribe.call("POST", `/api/messages/${mention.id}/fail`, { error: "There is no outline." });
  await row.getByText("@scribe failed: There is no outline.").waitFor();
  await row.getByText("Proposed").waitFor();
  await row.getByRole("button", { name: `Retry message ${task.id}` }).waitFor();
  await watcher.checkAccess(page, "work on which an agent failed");
  await page.setViewportSize({ width: 360, height: 740 });
  equal(await fits(page), true, "whether it fits a phone");

  // An agent without any trust cannot lose some, and who approves reads who acts next.
  await scribe.say("work", "An outline", { action_type: "publish" });
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${hub.url}/inbox`);
  await page.getByText("Approving raises scribe’s trust for publish from 0.00 to 0.05, rejecting leaves it at 0.00.").waitFor();
  await page.getByRole("button", { name: "Approve: An outline" }).click();
  await page.getByText("Approved: An outline · Anyone in the channel can claim it now.").waitFor();
}

/** An agent of somebody else that starts only for its owner: whoever writes to it reads why nothing happens. */
export async function agentOfSomebodyElse({ hub, watcher }) {
  const harness = { backend: "subprocess", command: ["/bin/true"] };
  const { key } = await hub.admin.call("POST", "/api/agents", { name: "builder", display_name: "Builder", trigger_mode: "reactive", harness });
  const builder = new Caller(hub, key);
  await hub.admin.call("POST", "/api/agents", { name: "reader", display_name: "Reader" });
  await hub.admin.call("POST", "/api/channels", { name: "work" });
  await hub.admin.call("PUT", "/api/channels/work/settings", { workflow_enabled: true });
  const nora = await hub.person("nora");
  for (const name of ["nora", "builder", "reader"]) await hub.admin.call("PUT", `/api/channels/work/members/${name}`);
  const page = await watcher.page(await watcher.window(nora));
  const why = "Your messages do not start this agent. Ask its owner.";

  await page.goto(`${hub.url}/channels/work`);
  await page.getByRole("switch", { name: "Propose" }).click();
  await write(page, "Message #work", "@builder and @reader, build the installer");
  const work = article(page, "build the installer").first();
  await work.getByText(`@builder was not started. ${why}`).waitFor();
  await work.getByText("@reader has not started on it").waitFor();
  await page.reload();
  await work.getByText(`@builder was not started. ${why}`).waitFor();
  await watcher.checkAccess(page, "work that does not start an agent of somebody else");
  await write(page, "Message #work", "@builder, are you there?");
  const talk = article(page, "are you there?").first();
  await talk.getByText("@builder: not started").waitFor();
  await talk.getByText(why).waitFor();
  // Its program can still find the message, and then that is said.
  const claimed = (await builder.call("POST", "/api/inbox/claim")).items;
  await work.getByText("@builder is working on it").waitFor();
  equal(await work.getByText("was not started").count(), 0, "what is no longer so");
  await builder.call("POST", `/api/messages/${claimed[0].id}/done`, {});
  await work.getByText("@builder has read it").waitFor();

  for (const [name, text] of [["builder", why], ["reader", ""]]) {
    await page.goto(`${hub.url}/dm/${name}`);
    await write(page, `Message @${name}`, "Build it, please");
    const asked = article(page, "Build it, please").first();
    await asked.getByText(text ? "Not started" : /Waiting/).waitFor();
    if (text) await asked.getByText(text).waitFor();
    await asked.getByRole("button", { name: "Withdraw" }).waitFor();
    await watcher.checkAccess(page, `a message to @${name}`);
  }
  await page.setViewportSize({ width: 360, height: 740 });
  for (const path of ["/dm/builder", "/channels/work"]) {
    await page.goto(hub.url + path);
    await page.getByText(/not started/i).first().waitFor();
    equal(await fits(page), true, `whether ${path} fits a phone`);
  }
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
