// Work on a board: moved by hand, by the keyboard and by others, and always where the hub says that it is.

import { equal, until } from "./frame.mjs";

const STATES = { proposed: "Proposed", in_progress: "In progress", approved: "Approved", published: "Published", done: "Done" };
const WORK = { metadata: { action_type: "publish" } };
const column = (page, word) => page.getByRole("region", { name: word, exact: true });
const card = (place, title) => place.locator("article", { hasText: title });

/** Each column has what the hub lists in that state, and nothing else. */
async function checkColumns(page, caller, channel) {
  for (const [state, word] of Object.entries(STATES)) {
    const { items } = await caller.call("GET", `/api/channels/${channel}/messages/by-state?state=${state}`);
    const wanted = items.map(({ body }) => body);
    let shown;
    await until(`${word} is as the hub says: ${JSON.stringify(wanted)}`, async () => {
      shown = await column(page, word).locator("article a:first-of-type").allInnerTexts();
      return JSON.stringify(shown.filter((text) => !/^\d+$/.test(text.trim()))) === JSON.stringify(wanted);
    });
  }
}

async function stateIs(caller, id, wanted) {
  await until(`message ${id} is ${wanted}`, async () => (await caller.call("GET", `/api/messages/${id}`)).workflow_state === wanted);
}

/** A card is dragged, taken back, moved by its menu and by a key; each is a reaction, and others' reactions move it, too. */
export async function boardMoves({ hub, watcher }) {
  const scribe = await hub.agent("scribe");
  await hub.admin.call("POST", "/api/channels", { name: "work", topic: "What is to be done" });
  await hub.admin.call("PUT", "/api/channels/work/settings", { workflow_enabled: true });
  const [import_, links, notes] = [
    await scribe.say("work", "Write the import section", WORK),
    await scribe.say("work", "Check every link", WORK),
    await scribe.say("work", "Short version of the notes", WORK),
  ];
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/work`);
  await page.getByRole("navigation", { name: "Views of the channel" }).getByRole("link", { name: "Board" }).click();
  await card(column(page, "Proposed"), "Check every link").waitFor();
  await page.getByText("remind after 24h").waitFor();

  // By hand, and taken back.
  await card(page, "Check every link").dragTo(column(page, "Approved"));
  await card(column(page, "Approved"), "Check every link").waitFor();
  await stateIs(hub.admin, links.id, "approved");
  await page.getByRole("button", { name: "Undo" }).click();
  await card(column(page, "Proposed"), "Check every link").waitFor();
  await stateIs(hub.admin, links.id, "proposed");

  // By the keyboard: along the column, the menu, and the card keeps the focus where it goes.
  await card(page, "Short version").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  equal(await page.evaluate(() => document.activeElement.innerText.includes("Write the import section")), true, "whether arrows lead to it");
  await page.keyboard.press("Enter");
  await page.getByRole("menu", { name: /Write the import/ }).waitFor();
  await watcher.checkAccess(page, "the menu of a card");
  await page.getByRole("menuitem", { name: /In progress/ }).focus();
  await page.keyboard.press("Enter");
  await card(column(page, "In progress"), "Write the import section").waitFor();
  await stateIs(hub.admin, import_.id, "in_progress");
  await until("the card has the focus", () => page.evaluate(() => document.activeElement.id.startsWith("card-")));
  equal(await page.evaluate(() => document.activeElement.innerText.includes("Write the import section")), true, "what has the focus");
  await page.keyboard.press("d");
  await card(column(page, "Done"), "Write the import section").waitFor();
  await stateIs(hub.admin, import_.id, "done");

  // Others move cards as well, and write new ones.
  await scribe.call("POST", `/api/messages/${notes.id}/reactions`, { reaction: "in_progress" });
  await card(column(page, "In progress"), "Short version").getByText("scribe").waitFor();
  await scribe.say("work", "Translate the known issues", WORK);
  await card(column(page, "Proposed"), "Translate the known issues").waitFor();
  await checkColumns(page, hub.admin, "work");
  await watcher.checkAccess(page, "a board");
}

/** Who is too slow to claim is told who was faster; what others said cannot be taken back; why something is rejected is said. */
export async function boardRefusals({ hub, watcher }) {
  watcher.allow(/409/);
  const scribe = await hub.agent("scribe");
  const bob = await hub.person("bob");
  await hub.admin.call("POST", "/api/channels", { name: "work" });
  await hub.admin.call("PUT", "/api/channels/work/settings", { workflow_enabled: true });
  const wanted = await scribe.say("work", "Wanted by two", WORK);
  const weak = await scribe.say("work", "Weak draft", WORK);
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/board`);
  await card(column(page, "Proposed"), "Wanted by two").waitFor();
  // Bob's claim arrives just before.
  let isFirst = true;
  await page.route(`**/api/messages/${wanted.id}/reactions`, async (route) => {
    if (isFirst) await bob.call("POST", `/api/messages/${wanted.id}/reactions`, { reaction: "in_progress" });
    isFirst = false;
    await route.continue();
  });
  await card(page, "Wanted by two").focus();
  await page.keyboard.press("c");
  await page.getByText(/bob has claimed this message/).waitFor();
  await card(column(page, "In progress"), "Wanted by two").getByText("bob").waitFor();
  await page.getByRole("button", { name: "Move: Wanted by two" }).click();
  await page.getByRole("menuitem", { name: /Proposed.*@bob claimed it/ }).waitFor();
  await page.keyboard.press("Escape");

  // By the menu, and what one then types is the reason, not keys of the card.
  await page.getByRole("button", { name: "Move: Weak draft" }).click();
  await page.getByRole("menuitem", { name: /Rejected/ }).click();
  await page.getByLabel("Reason").waitFor();
  await until("one writes the reason", () => page.getByLabel("Reason").evaluate((field) => field === document.activeElement));
  await page.keyboard.type("No numbers in it");
  equal(await page.getByLabel("Reason").inputValue(), "No numbers in it", "the reason");
  await watcher.checkAccess(page, "rejecting");
  await page.getByRole("dialog").getByRole("button", { name: "Reject", exact: true }).click();
  await stateIs(hub.admin, weak.id, "rejected");
  await until("the reason is told", async () => {
    const { items } = await hub.admin.call("GET", `/api/messages/${weak.id}/replies`);
    return items.some(({ body }) => body.endsWith("No numbers in it"));
  });
  await page.getByRole("region", { name: "Rejected" }).getByRole("button").click();
  await page.waitForURL(/rejected=true/);
  await card(column(page, "Rejected"), "Weak draft").waitFor();

  // The filter is in the address, and there is a way to here from anywhere.
  await page.getByLabel("Claimed by").selectOption("bob");
  await page.waitForURL(/claimed=bob/);
  await card(page, "Weak draft").waitFor({ state: "detached" });
  await page.reload();
  await card(page, "Wanted by two").waitFor();
  equal(await page.locator("article").count(), 1, "what the filter leaves");
  await page.goto(`${hub.url}/channels/general/board`);
  await page.getByText("This channel has no workflow").waitFor();
  await page.getByRole("link", { name: "Turn it on in settings" }).waitFor();
  await watcher.checkAccess(page, "a channel without a board");
  await page.getByRole("heading", { level: 1 }).focus();
  await page.keyboard.press("g");
  await page.keyboard.press("b");
  await page.getByRole("heading", { level: 1, name: "Board" }).waitFor();
}

/** A long column comes in parts, in one channel and in all of them. */
export async function boardPages({ hub, watcher }) {
  await hub.admin.call("POST", "/api/channels", { name: "work" });
  await hub.admin.say("work", "said before there was a workflow");
  await hub.admin.call("PUT", "/api/channels/work/settings", { workflow_enabled: true });
  await Promise.all(Array.from({ length: 60 }, (_, at) => hub.admin.say("work", `task ${at}`, WORK)));
  const page = await watcher.page(await watcher.window(hub.admin));
  for (const path of ["/channels/work/board", "/board"]) {
    await page.goto(hub.url + path);
    await column(page, "Proposed").getByText("50+").waitFor();
    await column(page, "Proposed").getByRole("button", { name: "Show more" }).click();
    await column(page, "Proposed").getByRole("heading").getByText("60", { exact: true }).waitFor();
    equal(await column(page, "Proposed").locator("article").count(), 60, `the cards of ${path}`);
  }
  await watcher.checkAccess(page, "a long column");
}

/** On a phone there is one column at a time, and all of it by touch. */
export async function boardPhone({ hub, watcher }) {
  const scribe = await hub.agent("scribe");
  await hub.admin.call("POST", "/api/channels", { name: "work" });
  await hub.admin.call("PUT", "/api/channels/work/settings", { workflow_enabled: true });
  const draft = await scribe.say("work", "A draft with-a-very-long-word-that-does-not-fit-into-a-narrow-column-and-must-break-somewhere", WORK);
  const page = await watcher.page(await watcher.window(hub.admin, { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }));
  await page.goto(`${hub.url}/channels/work/board`);
  await card(page, "A draft").getByRole("button", { name: /^Move/ }).tap();
  await page.getByRole("menuitem", { name: /Approved/ }).tap();
  await stateIs(hub.admin, draft.id, "approved");
  equal(await page.evaluate(() => document.documentElement.scrollWidth <= screen.width), true, "whether it fits");
  await watcher.checkAccess(page, "a board on a phone");
}
