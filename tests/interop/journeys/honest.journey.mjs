// What a person sees of a text is what agents read of it, and an approval is of one text.

import { equal, until } from "./frame.mjs";

const article = (page, text) => page.locator("article", { hasText: text });
const WORK = { metadata: { action_type: "publish" } };

/** A channel of the administrator's where messages are work, and an agent that proposes some. */
async function workplace(hub) {
  await hub.admin.call("POST", "/api/channels", { name: "work" });
  await hub.admin.call("PUT", "/api/channels/work/settings", { workflow_enabled: true });
  return hub.agent("scribe", "Ada");
}

/** Links, invisible characters and text that is not drawn are shown for what they are before somebody approves. */
export async function shownForWhatItIs({ hub, watcher }) {
  const scribe = await workplace(hub);
  const text = "Please pay [bank.example](https://evil.example/x \"a title\") now\u202e\u200b\n\n[x]: https://a.example 'ignore the above'";
  const draft = await scribe.say("work", text, WORK);
  await scribe.say("work", `tower ${"x" + "\u0301\u0336\u035c".repeat(60)} ${"w".repeat(400)}`, { reply_to: draft.id });
  const requests = [];
  const context = await watcher.window(hub.admin);
  context.on("request", (request) => requests.push(request.url()));
  const page = await watcher.page(context);
  await page.goto(`${hub.url}/channels/work`);
  const row = page.locator(`#m${draft.id}`);
  equal(await row.locator("bdi.target").innerText(), "(goes to evil.example)", "where the link leads");
  await until("the mark has its names", async () =>
    (await row.locator(".prose .sign").getAttribute("title")) === "RIGHT-TO-LEFT OVERRIDE (U+202E), ZERO WIDTH SPACE (U+200B)");
  await row.getByText("Part of this text is not shown.").waitFor();
  await watcher.checkAccess(page, "a text with much to hide");

  // Who it was is told with the handle, which nobody can choose twice.
  await page.getByRole("button", { name: /reply to Ada \(@scribe\): Please/ }).waitFor();

  // Beside the buttons that decide, the exact text.
  await row.getByRole("button", { name: "Approve" }).locator("xpath=..").getByRole("button", { name: "Show source" }).click();
  const dialog = page.getByRole("dialog", { name: `Source of message ${draft.id}` });
  await dialog.getByText("[x]: https://a.example 'ignore the above'").waitFor();
  await dialog.getByText('"action_type": "publish"').waitFor();
  await dialog.getByText("Invisible characters: RIGHT-TO-LEFT OVERRIDE (U+202E), ZERO WIDTH SPACE (U+200B)").waitFor();
  await dialog.locator('.sign[title^="RIGHT-TO-LEFT OVERRIDE"]').waitFor();
  await watcher.checkAccess(page, "the source of a message");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });

  // Nothing of a message is drawn outside its row.
  const tower = article(page, "tower");
  const drawn = await tower.evaluate((one) => {
    const clips = (element) => getComputedStyle(element).overflowY === "clip";
    const box = one.getBoundingClientRect();
    const holder = [...one.querySelectorAll("div")].filter(clips).map((element) => element.getBoundingClientRect());
    return holder.length > 0 && holder.every(({ top, bottom, right }) => top >= box.top && bottom <= box.bottom && right <= box.right);
  });
  equal(drawn, true, "whether a tower of marks stays in its row");

  // The same where it waits for a decision, and in what was found.
  await page.goto(`${hub.url}/inbox`);
  const waiting = page.getByRole("region", { name: /decision|approval/i }).getByRole("listitem");
  await waiting.getByText("Please pay bank.example now[2 invisible]").first().waitFor();
  await waiting.getByText("Part of this text is not shown.").waitFor();
  await waiting.getByRole("button", { name: /^Show source/ }).click();
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  await page.goto(`${hub.url}/search?q=pay`);
  await page.locator(".sign").first().waitFor();
  equal(requests.filter((url) => !url.startsWith(hub.url)), [], "what was asked of others");
}

/** A text that was edited after an approval says so, shows what changed, and the owner of the channel may remove what others said of it. */
export async function editedSince({ hub, watcher }) {
  const scribe = await workplace(hub);
  const bob = await hub.person("bob");
  const draft = await scribe.say("work", "pay 10 to the printer", WORK);
  for (const caller of [hub.admin, bob]) await caller.call("POST", `/api/messages/${draft.id}/reactions`, { reaction: "approve" });
  await scribe.call("PATCH", `/api/messages/${draft.id}`, { body: "pay 9000 to the printer" });
  await bob.call("POST", `/api/messages/${draft.id}/reactions`, { reaction: "in_progress" });
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/work`);
  const row = page.locator(`#m${draft.id}`);
  await row.getByText("Edited since you and @bob approved").waitFor();
  await watcher.checkAccess(page, "a text that was edited after its approval");
  await row.getByRole("button", { name: "Show changes" }).click();
  const dialog = page.getByRole("dialog", { name: /Edit history/ });
  await dialog.getByText("approved by you and @bob").waitFor();
  equal(await dialog.locator("mark").allInnerTexts(), ["9000", "10"], "what is marked as changed");
  await watcher.checkAccess(page, "the history of a message");
  await page.keyboard.press("Escape");

  await row.getByRole("button", { name: "Message actions" }).click();
  await page.getByRole("menuitem", { name: "Remove @bob's claim" }).click();
  await page.getByText("Removed @bob's claim").waitFor();
  equal((await hub.admin.call("GET", `/api/messages/${draft.id}/reactions`)).reactions, [], "what is said of it after that");

  // Who decides again is no longer named.
  await row.getByRole("button", { name: "Approve" }).click();
  await row.getByText("Edited since @bob approved").waitFor();

  // The hub has told those who approved the earlier text, and leads to the message.
  await page.goto(`${hub.url}/dm/system`);
  const notice = article(page, `edited message ${draft.id} in #work after you approved it`);
  await watcher.checkAccess(page, "a notice of the hub");
  await notice.getByRole("link", { name: "Open message" }).click();
  await page.waitForURL(new RegExp(`/channels/work\\?at=${draft.id}`));
  await row.waitFor();
}

/** Of a direct message, too, the hub says that it was edited after its approval, and leads to it. */
export async function editedDirectly({ hub, watcher }) {
  const scribe = await hub.agent("scribe");
  const draft = await scribe.dm("admin", "pay 10 to the printer", WORK);
  await hub.admin.call("POST", `/api/messages/${draft.id}/reactions`, { reaction: "approve" });
  await scribe.call("PATCH", `/api/messages/${draft.id}`, { body: "pay 9000 to the printer" });
  // What others send as a notice leads nowhere.
  await scribe.dm("admin", "edited message 1", { metadata: { lapsed_approval: { message_id: draft.id, channel: "general", revision: 1 } } });
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/dm/system`);
  await page.getByRole("link", { name: "Open message" }).click();
  await page.waitForURL(new RegExp(`/dm/scribe\\?at=${draft.id}`));
  await page.locator(`#m${draft.id}`).getByText("Edited since you approved").waitFor();
  await article(page, "edited message 1").waitFor();
  equal(await page.getByRole("link", { name: "Open message" }).count(), 0, "links in what others send");
}

/** Who approves a text that is another one by now approves nothing, and sees the new text: in the channel, on the board and in the inbox. */
export async function editedWhileRead({ hub, watcher }) {
  watcher.allow(/409/);
  const scribe = await workplace(hub);
  const drafts = [];
  for (const name of ["first", "second", "third", "fourth"]) drafts.push(await scribe.say("work", `pay 10 to the ${name}`, WORK));
  const page = await watcher.page(await watcher.window(hub.admin));
  // The edit comes when the person has decided already.
  const edited = new Set();
  await page.route(/\/api\/messages\/\d+\/reactions$/, async (route) => {
    const id = Number(/messages\/(\d+)/.exec(route.request().url())[1]);
    const { body } = drafts.find((one) => one.id === id);
    if (!edited.has(id)) await scribe.call("PATCH", `/api/messages/${id}`, { body: body.replace("10", "9000") });
    edited.add(id);
    await route.continue();
  });
  const refused = async (draft) => {
    const words = page.getByText("This message was edited while you were reading it. Review it again.");
    await words.waitFor();
    equal((await hub.admin.call("GET", `/api/messages/${draft.id}/reactions`)).reactions, [], "what is said of the new text");
    await page.getByRole("button", { name: /Dismiss|Close/ }).first().click();
    await words.waitFor({ state: "detached" });
  };

  await page.goto(`${hub.url}/channels/work`);
  const row = page.locator(`#m${drafts[0].id}`);
  await row.getByRole("button", { name: "Approve" }).click();
  await row.getByText("pay 9000 to the first").waitFor();
  await row.getByText("Proposed").waitFor();
  await refused(drafts[0]);
  await row.getByRole("button", { name: "Approve" }).click();
  await row.getByText("by you").waitFor();
  await until("the new text is approved", async () => (await hub.admin.call("GET", `/api/messages/${drafts[0].id}`)).workflow_state === "approved");

  await page.goto(`${hub.url}/channels/work/board`);
  await page.locator("article", { hasText: "pay 10 to the second" }).focus();
  await page.keyboard.press("a");
  await page.getByRole("region", { name: "Proposed", exact: true }).getByText("pay 9000 to the second").waitFor();
  await refused(drafts[1]);

  // A reason that somebody has typed is not lost by it.
  await page.locator("article", { hasText: "pay 10 to the fourth" }).focus();
  await page.keyboard.press("x");
  await page.getByLabel("Reason").fill("too much");
  await page.getByRole("dialog").getByRole("button", { name: "Reject", exact: true }).click();
  await refused(drafts[3]);
  await page.goto(`${hub.url}/channels/work?thread=${drafts[3].id}`);
  await until("the reason is a draft", async () => (await page.getByLabel("Reply in thread").inputValue()) === "too much");

  await page.goto(`${hub.url}/inbox`);
  await page.getByRole("button", { name: "Approve: pay 10 to the third" }).click();
  await page.getByRole("button", { name: "Approve: pay 9000 to the third" }).waitFor();
  await refused(drafts[2]);
  await page.getByRole("button", { name: "Approve: pay 9000 to the third" }).click();
  await until("the new text is approved", async () => (await hub.admin.call("GET", `/api/messages/${drafts[2].id}`)).workflow_state === "approved");
}

/** Who logs out leaves nothing in the browser: no draft, no unsent message, and nothing that "back" shows. */
export async function nothingLeftBehind({ hub, watcher }) {
  watcher.allow(/401|503/);
  await hub.person("bob");
  const mine = await hub.admin.say("general", "as it was");
  const context = await watcher.window(hub.admin);
  const [page, other] = [await watcher.page(context), await watcher.page(context)];
  await page.goto(`${hub.url}/settings/appearance`);
  await page.getByRole("radio", { name: "Dark" }).click();
  for (const tab of [page, other]) {
    await tab.goto(`${hub.url}/channels/general`);
    await tab.route("**/api/messages", (route) => route.fulfill({ status: 503, json: {} }));
    await tab.getByLabel("Message #general").fill("secret of the admin");
    await tab.keyboard.press("Enter");
    await tab.getByRole("button", { name: "Retry" }).waitFor();
    await tab.getByLabel("Message #general").fill("half a secret");
  }
  await page.locator(`#m${mine.id}`).getByRole("button", { name: "Message actions" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await page.getByLabel("Edit your message").fill("another secret");
  await page.getByRole("navigation", { name: "Main" }).getByRole("button", { name: /Administrator/ }).click();
  await page.getByRole("menuitem", { name: "Log out" }).click();
  for (const tab of [page, other]) {
    await until("one is at the login", () => tab.evaluate(() => location.pathname === "/login").catch(() => false));
    const kept = await tab.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
    equal(/secret|admin/.test(kept), false, `whether anything is kept: ${kept}`);
  }
  await page.getByLabel("Username").fill("bob");
  await page.getByLabel("Password").fill("bob-password");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Inbox" }).waitFor();
  await page.goto(`${hub.url}/channels/general`);
  await page.locator(`#m${mine.id}`).waitFor();
  equal(await page.getByLabel("Message #general").inputValue(), "", "the draft that the next one sees");
  equal(await page.getByText("secret").count(), 0, "what the next one sees");
  // How the page looks is of the browser.
  equal(await page.evaluate(() => document.documentElement.classList.contains("dark")), true, "whether the page is still dark");
}
