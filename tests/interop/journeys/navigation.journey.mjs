// The sidebar, the pages beside it, and what the inbox counts.

import { equal, until } from "./frame.mjs";

const mainOf = (page) => page.getByRole("navigation", { name: "Main" });
const section = (page, name) => mainOf(page).getByRole("region", { name });
const boxOf = async (locator) => (await locator.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };

/** With many channels nothing important is cut off; sections collapse, say what is in them, and stay as they were left. */
export async function sidebar({ hub, watcher }) {
  for (let at = 10; at < 30; at++) await hub.admin.call("POST", "/api/channels", { name: `channel-${at}` });
  const scout = await hub.agent("scout");
  await hub.agent("porter");
  await hub.admin.call("POST", "/api/agents/porter/pause");
  await scout.say("general", "news");
  await scout.dm("admin", "a question");
  const context = await watcher.window(hub.admin, { viewport: { width: 1280, height: 900 } });
  const page = await watcher.page(context);
  await page.goto(`${hub.url}/channels/channel-20`);
  await section(page, "Agents").getByRole("link", { name: /^scout\s*1 unread/ }).waitFor();
  await section(page, "Agents").getByRole("link", { name: /^porter\s*paused/ }).waitFor();
  equal(await section(page, "Direct messages").getByRole("link").count(), 0, "own agents among the direct messages");
  equal(await section(page, "Channels").getByRole("listitem").first().innerText().then((text) => /^general/.test(text)), true, "whether an unread channel comes first");
  for (const name of ["Board", "Runs"]) {
    const { y, height } = await boxOf(section(page, "Work").getByRole("link", { name }));
    equal(y > 0 && y + height <= 900, true, `whether ${name} is in sight`);
  }
  // The section of channels is shorter than it could be, so that the sections below it are in sight, too.
  const foot = await boxOf(section(page, "Work"));
  for (const name of ["scout", "porter"]) {
    const { y, height } = await boxOf(section(page, "Agents").getByRole("link", { name: new RegExp(`^${name}`) }));
    equal(y > 0 && y + height <= foot.y, true, `whether ${name} is in sight`);
  }
  await section(page, "Channels").getByRole("link", { name: "channel-20" }).waitFor();
  equal(await section(page, "Channels").getByRole("listitem").count() < 21, true, "whether some channels are left out");
  const { y, height } = await boxOf(mainOf(page).getByRole("button", { name: /Administrator/ }));
  equal(y + height <= 900, true, "whether the user menu is in sight");
  await watcher.checkAccess(page, "the sidebar");

  // What was begun is marked, except where one is.
  await page.getByRole("textbox", { name: "Message" }).fill("begun");
  equal(await section(page, "Channels").getByRole("link", { name: /draft/ }).count(), 0, "marks at the open channel");
  await section(page, "Channels").getByRole("button", { name: "Show all 21 channels" }).click();
  equal(await section(page, "Channels").getByRole("listitem").count(), 21, "channels after all were wanted");
  await section(page, "Channels").getByRole("link", { name: "channel-21" }).click();
  await section(page, "Channels").getByRole("link", { name: /^channel-20\s*draft/ }).waitFor();
  await page.reload();
  await section(page, "Channels").getByRole("button", { name: "Show fewer channels" }).click();
  await section(page, "Channels").getByRole("button", { name: "Show all 21 channels" }).waitFor();
  await section(page, "Channels").getByRole("link", { name: /^channel-20\s*draft/ }).waitFor();

  const toggle = section(page, "Channels").getByRole("button", { name: "Channels section" });
  await toggle.click();
  await section(page, "Channels").getByText("1 unread").waitFor();
  equal(await toggle.getAttribute("aria-expanded"), "false", "whether the channels are shown");
  equal(await section(page, "Operate").getByRole("link").count(), 0, "links of Operate at first");
  await section(page, "Operate").getByRole("button", { name: "Operate" }).press("Enter");
  await section(page, "Operate").getByRole("link", { name: "Deliveries" }).waitFor();
  await page.reload();
  await section(page, "Operate").getByRole("link", { name: "Deliveries" }).waitFor();
  equal(await section(page, "Channels").getByRole("link", { name: "channel-20" }).count(), 0, "channels of the collapsed section");
}

/** A star moves a conversation to the top, by the button or the palette. If the hub refuses, it moves back. */
export async function stars({ hub, watcher }) {
  const scout = await hub.agent("scout");
  await scout.dm("admin", "a question");
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/general`);
  const button = page.getByRole("main").getByRole("button", { name: "Star" });
  await section(page, "Channels").getByRole("link", { name: "general" }).waitFor();
  await button.click();
  await section(page, "Starred").getByRole("link", { name: "general" }).waitFor();
  equal(await section(page, "Channels").getByRole("link", { name: "general" }).count(), 0, "places of the starred channel");
  await section(page, "Agents").getByRole("link", { name: /^scout/ }).click();
  await page.getByRole("heading", { level: 1, name: "@scout" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("Star conv");
  await page.getByRole("option", { name: /Star conversation/ }).waitFor();
  await page.keyboard.press("Enter");
  await section(page, "Starred").getByRole("link", { name: /^scout/ }).waitFor();
  equal(await button.getAttribute("aria-pressed"), "true", "what the button says");
  await watcher.checkAccess(page, "a starred conversation");
  await page.reload();
  await section(page, "Starred").getByRole("link", { name: /^scout/ }).waitFor();
  watcher.allow(/ERR_FAILED|Failed to load/);
  await page.route("**/api/starred/**", (route) => route.abort());
  await button.click();
  await page.getByText("Can't reach the server").waitFor();
  await section(page, "Starred").getByRole("link", { name: /^scout/ }).waitFor();
  equal(await button.getAttribute("aria-pressed"), "true", "what the button says after a refusal");
}

/** The pages of Operate are tabs with addresses of their own; the user menu leads to the rest, and tab bars do not scroll. */
export async function operateAndMenu({ hub, watcher }) {
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/operate`);
  await page.getByRole("heading", { level: 1, name: "Traces" }).waitFor();
  const tabs = page.getByRole("navigation", { name: "Operate" });
  equal(await tabs.evaluate((bar) => bar.scrollHeight <= bar.clientHeight), true, "whether the tabs of Operate fit");
  await tabs.getByRole("link", { name: "Deliveries" }).click();
  await page.getByRole("heading", { level: 1, name: "Deliveries" }).waitFor();
  await page.goto(`${hub.url}/traces?action=send_message`);
  await page.getByRole("heading", { level: 1, name: "Traces" }).waitFor();
  equal(new URL(page.url()).search, "?action=send_message", "what the link asked for");
  equal(await tabs.getByRole("link", { name: "Traces" }).getAttribute("aria-current"), "page", "the tab of the link");
  await watcher.checkAccess(page, "the traces among the tabs of Operate");

  await mainOf(page).getByRole("button", { name: /Administrator/ }).click();
  await page.getByRole("menuitem", { name: "Attachments" }).waitFor();
  await page.getByRole("menuitem", { name: "Stop all my agents" }).waitFor();
  await page.getByRole("menuitem", { name: "Admin" }).click();
  await page.getByRole("heading", { level: 1, name: "Admin" }).waitFor();
  equal(await page.getByRole("tablist").evaluate((bar) => bar.scrollHeight <= bar.clientHeight), true, "whether the tabs of Admin fit");

  await page.goto(`${hub.url}/search`);
  const rail = page.getByRole("complementary", { name: "Filters" });
  await rail.getByText("Days start at").waitFor();
  equal(await rail.evaluate((box) => box.scrollWidth <= box.clientWidth), true, "whether the filters fit");
}

/** The number at the inbox is what waits for the person, on every page and while it changes. What is only unread is not counted. */
export async function inboxNumber({ hub, watcher }) {
  const scribe = await hub.agent("scribe");
  await hub.admin.call("POST", "/api/channels", { name: "work" });
  await hub.admin.call("PUT", "/api/channels/work/settings", { workflow_enabled: true });
  const propose = (text) => scribe.say("work", text, { metadata: { action_type: "publish" } });
  const first = await propose("First section");
  for (const text of ["@admin look", "chat"]) await scribe.say("general", text);
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/settings/appearance`);
  const inbox = (count) => mainOf(page).getByRole("link", { name: count ? new RegExp(`^Inbox\\s*${count} waiting`) : /^Inbox$/ });
  await inbox(1).waitFor();
  await until("the tab has the number", async () => (await page.title()) === "(1) Appearance – Stoa");
  await propose("Second section");
  await inbox(2).waitFor();
  await hub.admin.call("POST", `/api/messages/${first.id}/reactions`, { reaction: "reject" });
  await inbox(1).waitFor();
  await inbox(1).click();
  await page.getByText("1 item needs you").waitFor();
  await page.getByRole("region", { name: "Mentions" }).getByText("look").waitFor();
  await page.getByRole("button", { name: "Mark all read" }).click();
  await inbox(1).waitFor();
}

/** An agent that was created and never connected is named in the inbox, until it connects or the person dismisses it. */
export async function unconnectedAgents({ hub, watcher }) {
  const scout = await hub.agent("scout");
  await hub.agent("porter");
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/inbox`);
  const cards = page.getByRole("region", { name: "Agents to connect" });
  await cards.getByText("@scout is not connected yet").waitFor();
  await watcher.checkAccess(page, "agents to connect");
  await cards.getByRole("button", { name: "Dismiss @porter" }).click();
  equal(await cards.getByRole("listitem").count(), 1, "agents after one was dismissed");
  await cards.getByRole("link", { name: "Connect @scout" }).click();
  await page.getByRole("tab", { name: "Connect", selected: true }).waitFor();
  await page.goBack();
  await cards.getByText("@scout is not connected yet").waitFor();
  await scout.call("GET", "/api/channels");
  await cards.waitFor({ state: "detached" });
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Inbox" }).waitFor();
  await page.getByText("You're all caught up").waitFor();
  equal(await cards.count(), 0, "agents that were dismissed or are connected");
}

/** While the hub is away, the pages of the sidebar open, and one that is not loaded yet says so and comes when the hub is back. */
export async function pagesWithoutHub({ hub, watcher }) {
  watcher.allow(/503|ERR_|Failed to load|Failed to fetch|EventSource|dynamically imported/);
  const context = await watcher.window(hub.admin);
  const page = await watcher.page(context);
  const asked = new Set();
  page.on("requestfinished", (request) => asked.add(/assets\/(\w+)-/.exec(request.url())?.[1]));
  await page.goto(`${hub.url}/channels/general`);
  await until("the pages are loaded ahead", () => asked.has("DeliveriesPage"));
  await hub.halt();
  await mainOf(page).getByRole("link", { name: "Board" }).click();
  await page.getByRole("heading", { level: 1, name: "Board" }).waitFor();
  await mainOf(page).getByRole("link", { name: "Agents" }).click();
  await page.getByRole("heading", { level: 1, name: "Agents" }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.getByRole("heading", { level: 1, name: "Could not load this part of the page" }).waitFor();
  await page.getByRole("button", { name: "Retry" }).click();
  await hub.run();
  await page.getByRole("heading", { level: 1, name: "Profile" }).waitFor();
  await watcher.checkAccess(page, "a page that came after all");
}

/** On a phone nothing is cut off or covered, what one presses is large enough, and the header says what waits. */
export async function phoneHeader({ hub, watcher }) {
  const scribe = await hub.agent("scribe", "Scribe");
  await hub.admin.call("POST", "/api/channels", { name: "work", topic: "One message per section of the notes" });
  await hub.admin.call("PUT", "/api/channels/work/settings", { workflow_enabled: true });
  await scribe.say("work", "A section with a title of some length", { metadata: { action_type: "publish" } });
  const size = { width: 360, height: 740 };
  const page = await watcher.page(await watcher.window(hub.admin, { viewport: size, hasTouch: true, isMobile: true }));
  const isPressed = async (locator, what) => {
    const { x, y, width, height } = await boxOf(locator);
    equal([x >= 0 && x + width <= size.width && y >= 0, width >= 44 && height >= 44], [true, true], `whether ${what} is in sight and large enough`);
  };

  await page.goto(`${hub.url}/inbox`);
  const row = page.getByRole("region", { name: "Waiting for your approval" }).getByRole("listitem");
  for (const name of [/^Approve/, /^Reject/, /^Show source/]) await isPressed(row.getByRole("button", { name }), String(name));
  await isPressed(page.getByRole("button", { name: "Menu, 1 waiting" }), "the menu");
  await watcher.checkAccess(page, "the inbox on a phone");
  await page.getByRole("button", { name: "Search or jump to" }).tap();
  await page.getByRole("combobox").fill("work");
  equal(await page.locator("kbd:visible").count(), 0, "keys that are named without a keyboard");
  await page.getByRole("option", { name: /work/ }).first().tap();

  await page.getByRole("heading", { level: 1, name: "work" }).waitFor();
  await isPressed(page.getByRole("navigation", { name: "Views of the channel" }).getByRole("link", { name: "Board" }), "the way to the board");
  await page.getByRole("button", { name: "2 members" }).tap();
  await page.getByRole("dialog", { name: "Members of #work" }).getByRole("button", { name: "Close" }).tap();
  await page.goto(`${hub.url}/dm/scribe`);
  await page.getByRole("button", { name: "Actions for @scribe" }).tap();
  await page.getByRole("menuitem", { name: "Mark unread" }).tap();
  const toast = await boxOf(page.getByText("@scribe has not written anything yet."));
  const field = await boxOf(page.locator("form", { has: page.getByRole("textbox", { name: "Message" }) }));
  equal(field.y + field.height <= toast.y && toast.y + toast.height <= size.height, true, "whether the toast stands below the message field");
}
