// What goes wrong elsewhere, or is unusual, and must not lose anything: long and strange texts, slow and broken connections, many tabs,
// small screens, other colours.

import { equal, until } from "./frame.mjs";

const article = (page, text) => page.locator("article", { hasText: text });
const field = (page, name = "general") => page.getByLabel(`Message #${name}`);
const log = (page) => page.getByRole("log", { name: "Messages" });
const isAtEnd = (page) => log(page).evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight < 5);
// A phone makes its window wider for what does not fit, so the screen counts.
const fits = (page) => page.evaluate(() => document.documentElement.scrollWidth <= Math.min(innerWidth, screen.width));

async function logIn(page, hub) {
  await page.waitForURL(/\/login/);
  await page.getByLabel("Username").fill("admin");
  await page.getByLabel("Password").fill(hub.password);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/channels\/general/);
}

/** What is new is divided from what is known; what is read in one tab is read in all. */
export async function unreadInTabs({ hub, watcher }) {
  const scout = await hub.agent("scout");
  const { id } = await scout.say("general", "known");
  await hub.admin.call("POST", "/api/notifications/mark-read", { channel: "general", message_id: id });
  for (const text of ["first news", "second news", "third news"]) await scout.say("general", text);
  const context = await watcher.window(hub.admin);
  const [other, page] = [await watcher.page(context), await watcher.page(context)];
  await other.goto(`${hub.url}/settings/appearance`);
  await other.getByRole("link", { name: /^general\s*3 unread/ }).waitFor();
  await until("the tab says what is new", async () => (await other.title()) === "• Appearance – Stoa");
  await page.goto(`${hub.url}/channels/general`);
  await page.getByRole("separator").getByText("New since").waitFor();
  await until("it is read", async () => (await page.title()) === "#general – Stoa");
  await until("it is read in the other tab, too", async () => (await other.title()) === "Appearance – Stoa");
  await page.getByRole("separator").getByText("New since").waitFor();
  await watcher.checkAccess(page, "a channel with something new");
}

/** A channel that somebody has never opened opens at its first message, also far from the end. What was not in sight stays unread. */
export async function neverOpened({ hub, watcher }) {
  const scout = await hub.agent("scout");
  for (const [name, count] of [["short", 3], ["long", 30], ["far", 80]]) {
    await hub.admin.call("POST", "/api/channels", { name });
    await scout.call("POST", `/api/channels/${name}/join`);
    for (let at = 0; at < count; at++) await scout.say(name, `line ${at}\n\nand a second paragraph of it`);
  }
  const page = await watcher.page(await watcher.window(hub.admin));
  const unread = async (name) => (await hub.admin.call("GET", "/api/notifications/unread")).find((one) => one.name === name).unread_count;
  const divider = page.getByRole("separator");
  await page.goto(`${hub.url}/channels/short`);
  await divider.getByText(/New since today, \d+:\d+.* · 3 messages/).waitFor();
  await until("all that was in sight is read", async () => (await unread("short")) === 0);
  for (const [name, words] of [["long", /· 30 messages/], ["far", /· 80 messages/]]) {
    const all = await unread(name);
    await page.goto(`${hub.url}/channels/${name}`);
    await divider.getByText(words).waitFor();
    await page.locator("article").first().getByText("line 0", { exact: true }).waitFor();
    await until("what was in sight is read", async () => (await unread(name)) < all);
    // Longer than it takes until something counts as read.
    await page.waitForTimeout(1500);
    equal((await unread(name)) > all / 2, true, `whether most of ${name} is unread`);
    await watcher.checkAccess(page, `the channel ${name}, which was never opened`);
    await page.getByRole("button", { name: "Latest" }).click();
    await until("one is at the end", () => isAtEnd(page));
    await until("all is read", async () => (await unread(name)) === 0);
  }
}

/** Who reads further up is told how much has come, and is not moved. */
export async function scrolledUp({ hub, watcher }) {
  const scout = await hub.agent("scout");
  await Promise.all(Array.from({ length: 45 }, (_, at) => scout.say("general", `line ${at}\n\nand a second paragraph of it`)));
  await hub.admin.call("POST", "/api/notifications/mark-read", { channel: "general" });
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/general`);
  await log(page).waitFor();
  await until("one comes in at the end", () => isAtEnd(page));
  await log(page).evaluate((box) => box.scrollTo(0, box.scrollHeight / 2));
  await page.getByRole("button", { name: "Latest" }).waitFor();
  const mark = await log(page).evaluate((box) => {
    const top = box.getBoundingClientRect().top;
    const seen = [...box.querySelectorAll("article")].find((one) => one.getBoundingClientRect().top >= top);
    return { id: seen.id, y: seen.getBoundingClientRect().top };
  });
  await scout.say("general", "news");
  await scout.say("general", "more news");
  await page.getByRole("button", { name: "2 new" }).waitFor();
  equal(await page.locator(`#${mark.id}`).evaluate((one, y) => Math.round(one.getBoundingClientRect().top - y), mark.y), 0, "how far it jumped");
  await watcher.checkAccess(page, "a channel further up");
  await page.getByRole("button", { name: "2 new" }).click();
  await article(page, "more news").waitFor();
  await until("one is at the end", () => isAtEnd(page));
}

/** News is read out to whoever listens: one by its words, many by their number. Keys lead from conversation to conversation. */
export async function byEarAndKeys({ hub, watcher }) {
  const scout = await hub.agent("scout");
  for (const name of ["alpha", "beta"]) await hub.admin.call("POST", "/api/channels", { name });
  await scout.call("POST", "/api/channels/beta/join");
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/general`);
  await field(page).waitFor();
  await scout.say("general", "the first one");
  await article(page, "the first one").waitFor();
  await scout.say("general", "hello there");
  const told = page.locator("[aria-live=polite]", { hasText: "scout" });
  await told.getByText("@scout: hello there").waitFor();
  await Promise.all([1, 2, 3].map((at) => scout.say("general", `burst ${at}`)));
  await told.getByText(/\d new messages from @scout/).waitFor();

  const heading = (name) => page.getByRole("heading", { level: 1, name });
  await scout.say("beta", "something new");
  await page.getByRole("link", { name: /^beta\s*1 unread/ }).waitFor();
  await field(page).click();
  await page.keyboard.press("Alt+Shift+ArrowDown");
  await heading("# beta").waitFor();
  // Once it is read, it is no longer the first of the list.
  await page.getByRole("link", { name: "beta", exact: true }).waitFor();
  await page.keyboard.press("Alt+ArrowUp");
  await heading("# alpha").waitFor();
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Threads" }).click();
  await heading("Threads").waitFor();
  equal(await page.evaluate(() => document.activeElement?.tagName), "H1", "what has the focus on a new page");
  await until("the tab is called by it", async () => /Threads – Stoa$/.test(await page.title()));
  await page.keyboard.press("?");
  await page.getByText("Previous or next conversation", { exact: true }).waitFor();
  await watcher.checkAccess(page, "the list of keys");
}

/** Whatever length and script a text has, the page stays whole. */
export async function strangeTexts({ hub, watcher }) {
  const scout = await hub.agent("scout");
  const long = `It begins here.\n\n${"Many words of it, and `code` as well. ".repeat(5400)}\n\nIt ends here.`;
  await scout.say("general", long);
  await scout.say("general", "שלום לכולם\n\nand back again");
  await scout.say("general", `zero${"\u200b".repeat(50)}width, ${"w".repeat(3000)} without a blank`);
  await scout.say("general", `e${"\u0301".repeat(400)} with many accents`);
  const page = await watcher.page(await watcher.window(hub.admin, { viewport: { width: 360, height: 740 } }));
  await page.goto(`${hub.url}/channels/general`);
  await article(page, "with many accents").waitFor();
  equal(await fits(page), true, "whether it fits");
  const side = await article(page, "שלום").locator("p").first().evaluate((line) => {
    const range = document.createRange();
    range.selectNodeContents(line);
    const [text, box] = [range.getBoundingClientRect(), line.getBoundingClientRect()];
    return text.left - box.left > box.right - text.right ? "right" : "left";
  });
  equal(side, "right", "the side at which Hebrew begins");
  await log(page).evaluate((box) => box.scrollTo(0, 0));
  await article(page, "It begins here").getByRole("button", { name: /Show all, 20\d kB/ }).click();
  const dialog = page.getByRole("dialog", { name: "Full text" });
  await dialog.getByText("It begins here").waitFor();
  await until("one reads to its end", async () => {
    await dialog.locator("[data-scroller]").evaluate((box) => box.scrollTo(0, box.scrollHeight));
    return dialog.getByText("It ends here").isVisible();
  });
  equal(await fits(page), true, "whether all of it fits");
  await watcher.checkAccess(page, "long and strange texts");
}

/** On a slow connection one sees that something is on its way, and can write already. */
export async function slowNetwork({ hub, watcher }) {
  await hub.admin.say("general", "it was a long way");
  const page = await watcher.page(await watcher.window(hub.admin));
  const held = [];
  let isSlow = true;
  await page.route(/\/api\/(channels\/general\/messages|messages$)/, async (route) => {
    if (isSlow) await new Promise((resolve) => held.push(resolve));
    await route.continue();
  });
  const letGo = async () => {
    await until("something waits", () => held.length > 0);
    for (const go of held.splice(0)) go();
  };
  await page.goto(`${hub.url}/channels/general`);
  await page.getByRole("status", { name: "Loading" }).waitFor();
  await field(page).fill("written while waiting");
  await watcher.checkAccess(page, "a channel that loads");
  await letGo();
  await article(page, "it was a long way").waitFor();
  await field(page).press("Enter");
  await article(page, "written while waiting").getByText("sending…").waitFor();
  isSlow = false;
  await letGo();
  await page.getByText("sending…").waitFor({ state: "detached" });
  equal(await article(page, "written while waiting").count(), 1, "how often it is shown");
}

/** The session ends while one types, and while one sends: both are there after the login. */
export async function nothingIsLost({ hub, watcher }) {
  watcher.allow(/401/);
  const context = await watcher.window(hub.admin);
  const page = await watcher.page(context);
  await page.goto(`${hub.url}/channels/general`);
  await field(page).fill("half a thou");
  // The stream ends with the session, and the page finds out why.
  await hub.admin.call("POST", "/auth/logout");
  await logIn(page, hub);
  await until("the draft is there", async () => (await field(page).inputValue()) === "half a thou");
  await field(page).fill("half a thought");
  // The session ends when the message is on its way.
  const end = async (route) => {
    const Cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
    await fetch(`${hub.url}/auth/logout`, { method: "POST", headers: { Cookie } });
    await route.continue();
  };
  await page.route("**/api/messages", end, { times: 1 });
  await field(page).press("Enter");
  await logIn(page, hub);
  // It goes by itself.
  await until("it is there as a message", async () => (await page.locator("article[id^=m]", { hasText: "half a thought" }).count()) === 1);
  equal(await article(page, "half a thought").count(), 1, "how often it is shown");
  await watcher.checkAccess(page, "after the login");
}

/** The hub has a new page while an old one is open: one is told, and what the old one can no longer load comes with the new one. */
export async function newVersion({ hub, watcher }) {
  watcher.allow(/404|503|ERR_|Failed to load|EventSource|dynamically imported/);
  const page = await watcher.page(await watcher.window(hub.admin));
  let isNew = false;
  let isGone = true;
  await page.route("**/build-id.txt", (route) => route.fulfill({ contentType: "text/plain", body: isNew ? "ffffffffffffffff" : "0000000000000000" }));
  // A page that is not loaded ahead.
  await page.route(/\/assets\/AttachmentsPage-.*\.js/, (route) => (isNew && isGone ? route.fulfill({ status: 404, body: "" }) : route.continue()));
  await page.goto(`${hub.url}/channels/general`);
  await field(page).fill("begun before");
  await hub.halt();
  isNew = true;
  await hub.run();
  await page.getByText("A new version is available").waitFor();
  await watcher.checkAccess(page, "a page that has grown old");
  // A page that is loaded now is the new one, and has all its parts.
  page.on("request", (request) => {
    if (request.isNavigationRequest()) isGone = false;
  });
  await page.getByRole("navigation", { name: "Main" }).getByRole("button", { name: /Administrator/ }).click();
  await page.getByRole("menuitem", { name: "Attachments" }).click();
  await page.getByRole("heading", { level: 1, name: "Attachments" }).waitFor();
  equal(isGone, false, "whether the old page is still there");
  await page.goto(`${hub.url}/channels/general`);
  equal(await field(page).inputValue(), "begun before", "the draft");
}

/** On a phone: the menu, a thread over the whole screen, and writing in it. */
export async function phoneThread({ hub, watcher }) {
  const scout = await hub.agent("scout");
  const question = await scout.say("general", "who knows?");
  await scout.say("general", "I do", { reply_to: question.id });
  const size = { width: 360, height: 640 };
  const page = await watcher.page(await watcher.window(hub.admin, { viewport: size, hasTouch: true, isMobile: true }));
  await page.goto(`${hub.url}/inbox`);
  await page.getByRole("button", { name: "Menu" }).tap();
  await watcher.checkAccess(page, "the menu on a phone");
  await page.getByRole("link", { name: /^general/ }).tap();
  await article(page, "who knows?").getByRole("button", { name: "1 reply" }).tap();
  const pane = page.getByRole("complementary", { name: "Thread" });
  await article(pane, "I do").waitFor();
  const box = await pane.boundingBox();
  equal([box.x, box.y, box.width, box.height], [0, 0, size.width, size.height], "where the thread is");
  await pane.getByLabel("Reply in thread").fill("so do I");
  await pane.getByRole("button", { name: "Send" }).tap();
  await article(pane, "so do I").waitFor();
  equal(await fits(page), true, "whether the thread fits");
  await watcher.checkAccess(page, "a thread on a phone");
  await pane.getByRole("button", { name: "Close thread" }).tap();
  await pane.waitFor({ state: "detached" });
  await field(page).fill("from the phone");
  await page.getByRole("button", { name: "Send" }).tap();
  await article(page, "from the phone").waitFor();
  const composer = await field(page).boundingBox();
  equal(composer.y + composer.height <= size.height, true, "whether one sees where one writes");
}

/** Twice as large, and with the colours of the system. */
export async function zoomAndColours({ hub, watcher }) {
  await hub.admin.say("general", "a word to @admin, in large letters");
  // 1280 by 800, twice as large.
  const zoomed = await watcher.page(await watcher.window(hub.admin, { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }));
  for (const path of ["/channels/general", "/agents", "/settings/appearance", "/traces"]) {
    await zoomed.goto(hub.url + path);
    await zoomed.getByRole("heading", { level: 1 }).waitFor();
    equal(await fits(zoomed), true, `whether ${path} fits`);
  }
  await zoomed.goto(`${hub.url}/channels/general`);
  await article(zoomed, "in large letters").waitFor();
  const composer = await field(zoomed).boundingBox();
  equal(composer.y + composer.height <= 400, true, "whether one sees where one writes");
  await watcher.checkAccess(zoomed, "a channel, twice as large");

  const forced = await watcher.page(await watcher.window(hub.admin, { forcedColors: "active" }));
  await forced.goto(`${hub.url}/channels/general`);
  await article(forced, "in large letters").waitFor();
  const current = forced.getByRole("navigation", { name: "Main" }).locator("[aria-current=page]");
  equal(await current.evaluate((link) => getComputedStyle(link).outlineStyle), "solid", "how the open channel is marked without own colours");
}

/** What is easily taken back is not asked about. */
export async function takenBack({ hub, watcher }) {
  const bob = await hub.person("bob");
  await bob.call("POST", "/api/channels", { name: "workshop" });
  await hub.admin.call("POST", "/api/channels/workshop/join");
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/workshop/settings`);
  await page.getByRole("button", { name: "Leave #workshop" }).click();
  const sidebar = page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "workshop" });
  await sidebar.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).click();
  await sidebar.waitFor();
  await watcher.checkAccess(page, "all channels");
}

/** Two people use one browser: neither sees what the other one typed, and no tab acts for one while it shows the other. */
export async function sharedBrowser({ hub, watcher }) {
  // The second one is not let into a channel of the first one, and was not logged in before. A tab that still shows the first one is refused.
  watcher.allow(/40[149]/);
  const bob = await hub.person("bob");
  await hub.admin.call("POST", "/api/channels", { name: "vault", public: false });
  const context = await watcher.window(hub.admin);
  const [first, second] = [await watcher.page(context), await watcher.page(context)];
  await first.goto(`${hub.url}/channels/general`);
  await field(first).fill("about bob");
  // As long as the first one is there: the page tries again by itself.
  await first.route("**/api/messages", (route) => route.fulfill({ status: 503, json: {} }));
  watcher.allow(/503/);
  await field(first).press("Enter");
  await article(first, "about bob").getByRole("button", { name: "Retry" }).waitFor();
  await field(first).fill("half a thought about bob");
  await second.goto(`${hub.url}/login`);
  await second.getByLabel("Username").fill("bob");
  await second.getByLabel("Password").fill("bob-password");
  await second.keyboard.press("Enter");
  await second.waitForURL(/\/inbox/);
  await first.getByRole("navigation", { name: "Main" }).getByText("bob").first().waitFor();
  equal(await field(first).inputValue(), "", "the draft that the next one sees");
  equal(await article(first, "about bob").count(), 0, "what the next one could send");
  await first.unroute("**/api/messages");
  await bob.call("POST", "/auth/logout");
  await context.clearCookies();
  await first.goto(`${hub.url}/channels/general`);
  await logIn(first, hub);
  await until("the draft is there", async () => (await field(first).inputValue()) === "half a thought about bob");
  await first.locator("article[id^=m]", { hasText: "about bob" }).waitFor();
  const { items } = await hub.admin.call("GET", "/api/channels/general/messages");
  equal(items.map(({ body, from }) => `${from.name}: ${body}`), ["admin: about bob"], "what was sent, and by whom");
}

/** What is written while the hub is away is sent when it is back: once, in its order, and only by whoever wrote it. */
export async function sentLater({ hub, watcher }) {
  watcher.allow(/ERR_|Failed to load|EventSource|50[0-9]|40[1-4]/);
  const bob = await hub.person("bob");
  const context = await watcher.window(hub.admin);
  const page = await watcher.page(context);
  await page.goto(`${hub.url}/channels/general`);
  await field(page).waitFor();
  const write = async (text) => {
    await field(page).fill(text);
    await field(page).press("Enter");
    await article(page, text).getByRole("button", { name: "Retry" }).waitFor();
  };
  const shown = (text) => page.locator("article[id^=m]", { hasText: text });
  await hub.halt();
  await write("first word");
  await write("second word");
  await article(page, "second word").getByText("It is sent when the hub is back.").waitFor();
  await watcher.checkAccess(page, "messages that wait for the hub");
  await hub.run();
  await shown("second word").waitFor();
  const said = async () => (await hub.admin.call("GET", "/api/channels/general/messages")).items.map(({ body }) => body).sort();
  equal(await said(), ["first word", "second word"], "what arrived");
  equal([await shown("first word").count(), await page.getByRole("button", { name: "Retry" }).count()], [1, 0], "what is shown, and what still waits");

  // The session is somebody else's when the hub is back: nothing is sent in their name.
  await hub.halt();
  await write("third word");
  const [own] = await context.cookies();
  const become = ({ name, value }) => context.addCookies([{ name, value, url: hub.url }]);
  await become({ name: own.name, value: bob.cookie.slice(own.name.length + 1) });
  await hub.run();
  await page.getByRole("navigation", { name: "Main" }).getByText("bob").first().waitFor();
  equal(await article(page, "third word").count(), 0, "what the other one sees of it");
  equal(await said(), ["first word", "second word"], "what arrived by then");
  await become(own);
  await page.reload();
  await shown("third word").waitFor();
}

/** A page that came up without the hub says so, and comes to life with it. */
export async function comesToLife({ hub, watcher }) {
  watcher.allow(/ERR_FAILED|Failed to load|Can't reach/);
  await hub.admin.say("general", "it was there all along");
  const page = await watcher.page(await watcher.window(hub.admin));
  let isDown = true;
  await page.route(/\/(api|auth)\//, (route) => (isDown ? route.abort() : route.continue()));
  await page.goto(`${hub.url}/channels/general`);
  await page.getByText("Can't reach the server").waitFor();
  isDown = false;
  await article(page, "it was there all along").waitFor();
  await watcher.checkAccess(page, "a page that came to life");
}

/** A link to what is said elsewhere, or nowhere, says so, and does not look through the whole channel. */
export async function lostLink({ hub, watcher }) {
  watcher.allow(/404/);
  const scout = await hub.agent("scout");
  await hub.admin.call("POST", "/api/channels", { name: "other" });
  const elsewhere = await hub.admin.say("other", "said elsewhere");
  for (let at = 0; at < 120; at++) await scout.say("general", `line ${at}`);
  const page = await watcher.page(await watcher.window(hub.admin));
  for (const id of [elsewhere.id, 999_999]) {
    let asked = 0;
    const count = (request) => (asked += /channels\/general\/messages/.test(request.url()) ? 1 : 0);
    page.on("request", count);
    await page.goto(`${hub.url}/channels/general?at=${id}`);
    await page.getByText("That message does not exist or was deleted.").waitFor();
    await article(page, "line 119").waitFor();
    await until("one is at the end", () => isAtEnd(page));
    page.off("request", count);
    equal(asked < 6, true, "whether little was asked for");
  }
  await watcher.checkAccess(page, "a link that leads nowhere");
}

/** What one changes in a message is kept when it is out of sight and when the session ends, and Escape leaves the thread open. */
export async function editKept({ hub, watcher }) {
  watcher.allow(/401/);
  const mine = await hub.admin.say("general", "as it was");
  const scout = await hub.agent("scout");
  for (let at = 0; at < 60; at++) await scout.say("general", `line ${at}`);
  const context = await watcher.window(hub.admin);
  const page = await watcher.page(context);
  const edit = async () => {
    const row = page.locator(`#m${mine.id}`).last();
    await row.hover();
    await row.getByRole("button", { name: "Message actions" }).click();
    await page.getByRole("menuitem", { name: "Edit" }).click();
  };
  const editor = page.getByLabel("Edit your message");
  await page.goto(`${hub.url}/channels/general?at=${mine.id}`);
  await edit();
  await editor.fill("as it should be");
  await log(page).evaluate((box) => box.scrollTo(0, box.scrollHeight));
  await editor.waitFor({ state: "detached" });
  await log(page).evaluate((box) => box.scrollTo(0, 0));
  await until("it is still there", async () => (await editor.inputValue()) === "as it should be");
  const Cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
  await fetch(`${hub.url}/auth/logout`, { method: "POST", headers: { Cookie } });
  await logIn(page, hub);
  await edit();
  equal(await editor.inputValue(), "as it should be", "what was typed before the session ended");
  await editor.press("Enter");
  await article(page, "as it should be").getByText("edited").waitFor();

  await page.goto(`${hub.url}/channels/general?thread=${mine.id}`);
  const pane = page.getByRole("complementary", { name: "Thread" });
  await article(pane, "as it should be").waitFor();
  await edit();
  await pane.getByLabel("Edit your message").press("Escape");
  await article(pane, "as it should be").waitFor();
}

/** Much at once is shown in the end, with few requests. */
export async function eventStorm({ hub, watcher }) {
  const scout = await hub.agent("scout");
  const { id } = await scout.say("general", "a busy thread");
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/general?thread=${id}`);
  const pane = page.getByRole("complementary", { name: "Thread" });
  await article(pane, "a busy thread").waitFor();
  const asked = [];
  // Parts of the page load meanwhile, which costs the same however much happens.
  page.on("request", (request) => request.url().includes("/api/") && asked.push(request.url()));
  for (let at = 0; at < 200; at += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, more) => scout.say("general", `answer ${at + more}`, { reply_to: id })));
    await Promise.all(Array.from({ length: 20 }, () => scout.call("POST", `/api/messages/${id}/reactions`, { reaction: "approve" })));
  }
  await scout.say("general", "the last answer", { reply_to: id });
  await scout.call("POST", `/api/messages/${id}/reactions`, { reaction: "done" });
  await article(pane, "a busy thread").getByText("Done").first().waitFor();
  // Only the rows in sight are drawn.
  await until("the last answer is at the end", async () => {
    await pane.getByRole("log", { name: "Replies" }).evaluate((box) => box.scrollTo(0, box.scrollHeight));
    return article(pane, "the last answer").isVisible();
  });
  equal(asked.length < 150, true, `whether ${asked.length} requests are few`);
}

/** What could not be loaded while the hub was away is there when the hub is, without a click. */
export async function loadedAfterAll({ hub, watcher }) {
  watcher.allow(/ERR_|Failed to load|503/);
  await hub.admin.call("POST", "/api/channels", { name: "other" });
  await hub.admin.say("other", "there after all");
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/general`);
  await field(page).waitFor();
  await until("it is live", () => page.evaluate(() => performance.getEntriesByType("resource").some(({ name }) => name.includes("/build-id.txt"))));
  await hub.halt();
  await page.getByRole("link", { name: /^other/ }).click();
  await page.getByText("Retrying when the connection is back.").first().waitFor();
  await hub.run();
  await article(page, "there after all").waitFor();
}

/** Two tabs with one conversation: what one sends takes nothing from the other, and the same draft is not sent twice. */
export async function draftsInTabs({ hub, watcher }) {
  const context = await watcher.window(hub.admin);
  const [first, second] = [await watcher.page(context), await watcher.page(context)];
  await first.goto(`${hub.url}/channels/general`);
  await field(first).fill("the same in both");
  await second.goto(`${hub.url}/channels/general`);
  await until("the draft is in both", async () => (await field(second).inputValue()) === "the same in both");
  await field(first).press("Enter");
  await until("it is in none", async () => (await field(second).inputValue()) === "");
  await field(first).fill("of the first");
  await field(second).fill("of the second");
  await field(first).press("Enter");
  await article(first, "of the first").waitFor();
  await second.reload();
  await until("it is kept", async () => (await field(second).inputValue()) === "of the second");
}

/** Back closes what is open beside or over a page, and long names fit on a phone. */
export async function backAndLong({ hub, watcher }) {
  const name = "y".repeat(60);
  await hub.agent(name, "D".repeat(60));
  const page = await watcher.page(await watcher.window(hub.admin, { viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true }));
  await page.goto(`${hub.url}/agents/${name}`);
  await page.getByText(`@${name}`).first().waitFor();
  equal(await fits(page), true, "whether a long name fits");
  await page.goto(`${hub.url}/traces`);
  await page.getByRole("row").nth(1).getByRole("button").first().click();
  const peek = page.getByRole("complementary", { name: "Trace" });
  await peek.waitFor();
  await page.goBack();
  await peek.waitFor({ state: "detached" });
  await page.getByRole("heading", { level: 1, name: "Traces" }).waitFor();
}
