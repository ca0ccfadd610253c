// Saying yes and no, taking work on, and the keys for it.

import { equal, until } from "./frame.mjs";

const article = (page, text) => page.locator("article", { hasText: text });

const WORK = { metadata: { action_type: "publish" } };

/** A channel where messages are work, and an agent that proposes some. */
async function workplace(hub) {
  await hub.admin.call("POST", "/api/channels", { name: "work" });
  await hub.admin.call("PUT", "/api/channels/work/settings", { workflow_enabled: true });
  return hub.agent("scribe", "Scribe");
}

async function choose(page, text, name) {
  await article(page, text).getByRole("button", { name: "Message actions" }).click();
  await page.getByRole("menuitemcheckbox", { name }).click();
}

async function reactionsOf(hub, message) {
  const { reactions } = await hub.admin.call("GET", `/api/messages/${message.id}/reactions`);
  return reactions.map(({ reaction, from }) => `${from.name} ${reaction}`);
}

/** A decision is made where it waits, can be taken back, and says who made it and why. */
export async function deciding({ hub, watcher }) {
  const scribe = await workplace(hub);
  const bob = await hub.person("bob");
  const draft = await scribe.say("work", "a draft to decide on", WORK);
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/work`);
  const row = article(page, "a draft to decide on");
  await row.getByText("Proposed").waitFor();
  await watcher.checkAccess(page, "a proposal");

  await row.getByRole("button", { name: "Approve" }).click();
  await row.getByText("by you").waitFor();
  await page.getByText("Approved: a draft to decide on", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await row.getByText("Proposed").waitFor();
  await until("the approval is taken back", async () => (await reactionsOf(hub, draft)).length === 0);

  await choose(page, "a draft to decide on", /Approve/);
  await row.getByText("Approved").waitFor();
  await until("the hub knows", async () => (await reactionsOf(hub, draft)).join() === "admin approve");
  await choose(page, "a draft to decide on", /Approve/);
  await row.getByText("Proposed").waitFor();

  await row.getByRole("button", { name: "Reject" }).click();
  await row.getByText("Rejected").waitFor();
  await row.getByRole("button", { name: "Add reason" }).click();
  await page.getByLabel("Reply in thread").fill("it names no numbers");
  await page.keyboard.press("Enter");
  await row.getByRole("button", { name: "Reason: it names no numbers" }).waitFor();
  await page.getByRole("button", { name: "Close thread" }).click();

  // Beside what the state comes from, it says who said what else. Finished work offers that in its menu only.
  await bob.call("POST", `/api/messages/${draft.id}/reactions`, { reaction: "approve" });
  await row.getByText("approved by @bob", { exact: true }).waitFor();
  await row.getByRole("button", { name: "Message actions" }).first().click();
  await page.getByRole("menuitemcheckbox", { name: /Approve/ }).click();
  await row.getByText("approved by you and @bob", { exact: true }).waitFor();
  await until("the hub knows", async () => (await reactionsOf(hub, draft)).join() === "admin reject,bob approve,admin approve");
  await watcher.checkAccess(page, "a decision");
}

/** Of two who claim the same work one gets it, and the other is told who. */
export async function twoClaimants({ hub, watcher }) {
  watcher.allow(/409/);
  await workplace(hub);
  const bob = await hub.person("bob");
  const task = await hub.admin.say("work", "who takes this?", WORK);
  const pages = {
    admin: await watcher.page(await watcher.window(hub.admin)),
    bob: await watcher.page(await watcher.window(bob)),
  };
  const open = Object.values(pages).map(async (page) => {
    await page.goto(`${hub.url}/channels/work`);
    await article(page, "who takes this?").getByRole("button", { name: "Message actions" }).click();
    await page.getByRole("menuitemcheckbox", { name: "Claim" }).waitFor();
  });
  await Promise.all(open);
  await Promise.all(Object.values(pages).map((page) => page.getByRole("menuitemcheckbox", { name: "Claim" }).click()));
  await until("somebody has it", async () => (await reactionsOf(hub, task)).length === 1);
  const [winner] = (await reactionsOf(hub, task))[0].split(" ");
  const loser = winner === "bob" ? "admin" : "bob";
  await pages[loser].getByText(`${winner} has claimed this message.`).waitFor();
  await article(pages[loser], "who takes this?").getByText(`@${winner}, just now`).waitFor();
  await article(pages[winner], "who takes this?").getByText("you, just now").waitFor();
  await watcher.checkAccess(pages[loser], "work of somebody else");

  // What is given back can be taken on.
  await article(pages[winner], "who takes this?").getByRole("button", { name: "Release claim" }).click();
  await article(pages[loser], "who takes this?").getByText("In progress").waitFor({ state: "detached" });
  await choose(pages[loser], "who takes this?", "Claim");
  await article(pages[winner], "who takes this?").getByText(`@${loser}, just now`).waitFor();
  await article(pages[loser], "who takes this?").getByRole("button", { name: "Done" }).click();
  await article(pages[winner], "who takes this?").getByText(`by @${loser}`).waitFor();
  equal(await reactionsOf(hub, task), [`${loser} in_progress`, `${loser} done`], "what was said in the end");
}

/** What somebody has claimed is finished by them or by people of the channel. A member may remove a claim, the owner anything. */
export async function workOfOthers({ hub, watcher }) {
  const scribe = await workplace(hub);
  const [bob, eve, dan] = [await hub.person("bob"), await hub.person("eve"), await hub.person("dan", "admin")];
  await hub.admin.call("PUT", "/api/channels/work/settings", { auto_approve: true, approve_threshold: 0 });
  await bob.call("POST", "/api/channels/work/join");
  const task = await scribe.say("work", "a long task", WORK);
  await scribe.call("POST", `/api/messages/${task.id}/reactions`, { reaction: "in_progress" });
  const offers = async (caller) => {
    const page = await watcher.page(await watcher.window(caller));
    await page.goto(`${hub.url}/channels/work`);
    await article(page, "a long task").getByRole("button", { name: "Message actions" }).click();
    await page.getByRole("menuitem", { name: "Show source" }).waitFor();
    const names = await page.getByRole("menuitemcheckbox").allInnerTexts();
    const removals = await page.getByRole("menuitem", { name: /^Remove/ }).allInnerTexts();
    return { page, finishes: names.filter((name) => /Mark/.test(name)).length, removals: removals.sort() };
  };

  const guest = await offers(eve);
  equal([guest.finishes, guest.removals], [0, []], "what a guest is offered");
  await guest.page.keyboard.press("Escape");
  await article(guest.page, "a long task").focus();
  await guest.page.keyboard.press("d");
  await guest.page.getByText("@scribe claimed this. Only they or a member of #work can mark it done.").waitFor();
  await guest.page.goto(`${hub.url}/channels/work/board`);
  await guest.page.getByRole("button", { name: "Move: a long task" }).click();
  const done = guest.page.getByRole("menuitem", { name: /Done.*@scribe claimed this/ });
  equal(await done.getAttribute("aria-disabled"), "true", "whether a guest cannot move it to done");

  for (const caller of [hub.admin, dan]) {
    const { finishes, removals } = await offers(caller);
    equal([finishes, removals], [2, ["Remove @scribe's claim", "Remove the hub's approval"]], "what the owner and administrators are offered");
  }
  const member = await offers(bob);
  equal([member.finishes, member.removals], [2, ["Remove @scribe's claim"]], "what a member is offered");
  await member.page.getByRole("menuitem", { name: "Remove @scribe's claim" }).click();
  await member.page.getByText("Removed @scribe's claim").waitFor();
  equal(await reactionsOf(hub, task), ["system approve"], "what is left");
  const owner = await offers(hub.admin);
  await owner.page.getByRole("menuitem", { name: "Remove the hub's approval" }).click();
  await owner.page.getByText("Removed the hub's approval").waitFor();
  equal(await reactionsOf(hub, task), [], "what is left");
}

/** From message to message, and what to say of them, with the keyboard. */
export async function messageKeys({ hub, watcher }) {
  const scribe = await workplace(hub);
  const drafts = [];
  for (const name of ["first", "second", "third"]) drafts.push(await scribe.say("work", `the ${name} draft`, WORK));
  const context = await watcher.window(hub.admin);
  const page = await watcher.page(context);
  await page.goto(`${hub.url}/channels/work`);
  const isFocused = (text) => until(`"${text}" has the focus`, () => article(page, text).evaluate((one) => one === document.activeElement));
  await article(page, "the third draft").waitFor();
  // From wherever one is; what is done to a message needs one.
  await page.getByRole("heading", { level: 1 }).focus();
  await page.keyboard.press("a");
  await page.keyboard.press("k");
  await isFocused("the third draft");
  equal(await reactionsOf(hub, drafts[2]), [], "what was said of no message");
  await page.keyboard.press("k");
  await isFocused("the second draft");
  await page.keyboard.press("k");
  await page.keyboard.press("j");
  await isFocused("the second draft");
  for (const [key, word] of [["a", "Approved"], ["c", "In progress"], ["x", "Rejected"], ["d", "Done"]]) {
    await page.keyboard.press(key);
    await article(page, "the second draft").getByText(word).waitFor();
  }
  await until("the hub knows", async () => (await reactionsOf(hub, drafts[1])).length === 4);
  // What is said a second time is taken back.
  await page.reload();
  await article(page, "the second draft").getByText("Done").waitFor();
  await article(page, "the second draft").focus();
  await page.keyboard.press("d");
  await article(page, "the second draft").getByText("Rejected").waitFor();
  await isFocused("the second draft");
  await watcher.checkAccess(page, "a message with the focus");

  // In the thread, letters are letters.
  await page.keyboard.press("r");
  await until("the reply has the focus", () => page.getByLabel("Reply in thread").evaluate((one) => one === document.activeElement));
  await page.keyboard.type("xad");
  equal(await page.getByLabel("Reply in thread").inputValue(), "xad", "what is typed");
  await page.keyboard.press("Escape");
  await page.getByLabel("Reply in thread").waitFor({ state: "detached" });

  // What goes elsewhere says nothing of the message, and neither does anything where single keys are off.
  await article(page, "the first draft").focus();
  await page.keyboard.press("g");
  await page.keyboard.press("a");
  await page.getByRole("heading", { level: 1, name: "Agents" }).waitFor();
  await page.goto(`${hub.url}/settings/appearance`);
  await page.getByRole("switch", { name: /Single-key/ }).click();
  await page.goto(`${hub.url}/channels/work`);
  await article(page, "the first draft").focus();
  await page.keyboard.press("a");
  await page.keyboard.press("j");
  await article(page, "the third draft").getByRole("button", { name: "Approve" }).click();
  await until("the hub knows", async () => (await reactionsOf(hub, drafts[2])).length === 1);
  equal(await reactionsOf(hub, drafts[0]), [], "what was said of the first");
}
