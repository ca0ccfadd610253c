// Texts that are made to keep a browser busy: the page draws a part of each, and the rest when somebody asks. How long that takes is
// measured by scripts/check-hostile-page.

import { KNOWN, hostile, random, title } from "../hostile/texts.mjs";
import { equal, until } from "./frame.mjs";

/** What the page draws of one text at most, with the buttons and names around it. */
const MOST_NODES = 2600;
const SEED = 32;

/** The elements and texts within something. */
const nodesIn = (locator) => locator.evaluate((box) => {
  const walker = document.createTreeWalker(box, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  let count = 0;
  while (walker.nextNode()) count++;
  return count;
});
const charactersIn = (locator) => locator.evaluate((box) => box.textContent.length);
const few = (count, most, what) => {
  if (count > most) throw new Error(`${what}: ${count}, which is more than ${most}`);
};
const dialogIn = (page) => page.getByRole("dialog", { name: "Full text" });

/** Goes to the end of a conversation until a message is drawn there. What is above it may still grow. */
const arrives = (page, row) =>
  until("a message is at the end", async () => {
    await page.getByRole("log", { name: "Messages" }).evaluate((box) => box.scrollTo(0, box.scrollHeight));
    return (await row.count()) === 1 && (await row.locator("[data-waiting]").count()) === 0;
  });

/** Sends many at once, a few at a time. */
async function all(count, send) {
  for (let at = 0; at < count; at += 20) await Promise.all(Array.from({ length: Math.min(20, count - at) }, (_, more) => send(at + more)));
}

/** Each is drawn in part; all of it opens in a view that draws only what is in sight. */
export async function hostileTexts({ hub, watcher }) {
  const scout = await hub.agent("scout");
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/general`);
  await page.getByLabel("Message #general").waitFor();
  for (const [name, text] of Object.entries(KNOWN)) {
    const { id } = await scout.say("general", text);
    const row = page.locator(`#m${id}`);
    await arrives(page, row);
    few(await nodesIn(row), MOST_NODES, `elements of ${name}`);
    few(await charactersIn(row), 12_000, `characters of ${name}`);
    const button = row.getByRole("button", { name: /^Show all, / });
    equal(await button.count(), 1, `buttons that show all of ${name}`);
  }

  // With the keyboard: the view opens, is read to its end, and closes.
  const { id } = await scout.say("general", `It begins here.\n\n${"A paragraph with **bold** words.\n\n".repeat(6000)}It ends here.`);
  const row = page.locator(`#m${id}`);
  await arrives(page, row);
  await row.getByRole("button", { name: /^Show all, 2\d\d kB/ }).focus();
  await page.keyboard.press("Enter");
  const dialog = dialogIn(page);
  await dialog.getByText("It begins here.").waitFor();
  await dialog.locator("strong").first().waitFor();
  few(await nodesIn(dialog), MOST_NODES, "elements of the view");
  await watcher.checkAccess(page, "all of a long text");
  await dialog.locator("[data-scroller]").focus();
  await page.keyboard.press("End");
  await until("the end is in sight", async () => {
    await page.keyboard.press("End");
    return dialog.getByText("It ends here.").isVisible();
  });
  few(await nodesIn(dialog), MOST_NODES, "elements of the view at its end");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
}

/** A text that would become too many elements is shown as it was written, until somebody asks; a single line is cut as well. */
export async function hostileShapes({ hub, watcher }) {
  const scout = await hub.agent("scout");
  const tables = await scout.say("general", KNOWN.tables);
  const line = await scout.say("general", KNOWN.line);
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/general`);
  const row = page.locator(`#m${tables.id}`);
  await row.getByRole("button", { name: "Show formatted" }).click();
  await row.locator("td").first().waitFor();
  few(await nodesIn(row), 4 * MOST_NODES, "elements of a table that somebody asked for");
  await row.getByText("Part of this text is not shown.").waitFor();
  await watcher.checkAccess(page, "a table that somebody asked for");
  await row.getByRole("button", { name: "Show as text" }).click();
  equal(await row.locator("td").count(), 0, "cells of a table as text");
  await row.getByRole("button", { name: /^Show all, / }).click();
  await dialogIn(page).getByRole("listitem").first().waitFor();
  few(await nodesIn(dialogIn(page)), MOST_NODES, "elements of the view of tables");
  await page.keyboard.press("Escape");

  await page.locator(`#m${line.id}`).getByRole("button", { name: /^Show all, 262 kB/ }).click();
  await dialogIn(page).getByRole("listitem").first().waitFor();
  few(await charactersIn(dialogIn(page)), 40_000, "characters of a line in the view");
  await dialogIn(page).getByRole("button", { name: "Copy all" }).waitFor();
  await page.keyboard.press("Escape");

  // The exact text of a message is cut in the same way.
  await page.locator(`#m${line.id}`).getByRole("button", { name: "Message actions" }).click();
  await page.getByRole("menuitem", { name: "Show source" }).click();
  const source = page.getByRole("dialog", { name: /^Source of message/ });
  few(await charactersIn(source), 12_000, "characters of a source");
  await source.getByRole("button", { name: /^Show all, / }).click();
  await page.getByRole("dialog", { name: "Text", exact: true }).getByRole("listitem").first().waitFor();
  await page.keyboard.press("Escape");
  await source.waitFor();
  await page.keyboard.press("Escape");

  // The policy of the page forbids the styles by which Markdown aligns columns.
  const aligned = await scout.say("general", "|left|right|\n|:-:|-:|\n|one|two|");
  await arrives(page, page.locator(`#m${aligned.id}`));
  equal(await page.locator(`#m${aligned.id} td`).allInnerTexts(), ["one", "two"], "cells of an aligned table");

  const next = random(SEED);
  for (let at = 0; at < 12; at++) {
    const { id } = await scout.say("general", hostile(next));
    const drawn = page.locator(`#m${id}`);
    await arrives(page, drawn);
    few(await nodesIn(drawn), MOST_NODES, `elements of text ${at} of seed ${SEED}`);
  }
}

/** Where texts are listed: the inbox, the board, search, and the reason of a rejection. */
export async function hostileLists({ hub, watcher }) {
  const scout = await hub.agent("scout");
  await hub.admin.call("POST", "/api/channels", { name: "work" });
  await hub.admin.call("PUT", "/api/channels/work/settings", { workflow_enabled: true });
  await scout.call("POST", "/api/channels/work/join");
  await all(50, (at) => scout.say("work", title("admin", at), { metadata: { action_type: "plan" } }));
  const rejected = await scout.say("work", "a proposal", { metadata: { action_type: "plan" } });
  await hub.admin.call("POST", `/api/messages/${rejected.id}/reactions`, { reaction: "reject" });
  await hub.admin.say("work", KNOWN.directions, { reply_to: rejected.id });
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/work?at=${rejected.id}`);
  const reason = page.locator(`#m${rejected.id}`).getByRole("button", { name: /^Reason: / });
  await reason.waitFor();
  few(await charactersIn(reason), 300, "characters of a reason");
  await reason.click();
  const thread = page.getByRole("complementary", { name: "Thread" });
  await thread.getByRole("button", { name: /^Show all, / }).waitFor();
  few(await charactersIn(thread), 12_000, "characters of a thread with a long reason");

  await page.goto(`${hub.url}/inbox`);
  await page.locator(".inbox-title").first().waitFor();
  few(Math.max(...(await page.locator(".inbox-title").evaluateAll((titles) => titles.map((one) => one.textContent.length)))), 200, "characters of a title");
  await page.goto(`${hub.url}/channels/work/board`);
  await page.locator("article").first().waitFor();
  await page.goto(`${hub.url}/search?q=proposal`);
  await page.locator("article").first().waitFor();
}

/** A thread with many replies, and many channels: only the rows in sight are drawn, and the keyboard reaches all of them. */
export async function hostileNumbers({ hub, watcher }) {
  const [replies, channels] = [400, 250];
  const scout = await hub.agent("scout");
  const parent = await scout.say("general", "who answers?");
  await all(replies, (at) => scout.say("general", `reply ${at}`, { reply_to: parent.id }));
  await all(channels, (at) => hub.admin.call("POST", "/api/channels", { name: `room-${at}`, topic: "a room" }));
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/general?thread=${parent.id}`);
  const list = page.getByRole("log", { name: "Replies" });
  await list.getByText(`${replies} replies`).waitFor();
  await until("some are drawn", async () => (await list.locator("article").count()) > 5);
  few(await list.locator("article").count(), 100, "replies that are drawn");
  await watcher.checkAccess(page, "a long thread");
  // What is added above an edge moves the edge, so one scrolls until it is reached.
  await until("the last one is drawn", async () => {
    await list.evaluate((box) => box.scrollTo(0, box.scrollHeight));
    return (await list.locator("article").last().getAttribute("aria-label"))?.includes("message") && (await list.locator('li[aria-posinset="400"]').count()) === 1;
  });
  few(await list.locator("article").count(), 100, "replies that are drawn at the end");
  const last = list.locator('li[aria-posinset="400"] article');
  await last.focus();
  await page.keyboard.press("k");
  await until("the one before has the focus", () => list.locator('li[aria-posinset="399"] article').evaluate((one) => one === document.activeElement).catch(() => false));

  const side = page.getByRole("navigation", { name: "Main" }).getByRole("region", { name: "Channels" });
  few(await side.getByRole("listitem").count(), 100, "channels that the sidebar draws");
  await page.goto(`${hub.url}/channels`);
  const rows = page.locator("main").getByRole("listitem");
  await rows.first().waitFor();
  few(await rows.count(), 100, "channels that the list draws");
  await watcher.checkAccess(page, "a long list of channels");
  await until("the last channel is drawn", async () => {
    await page.locator("main [data-scroller]").evaluate((box) => box.scrollTo(0, box.scrollHeight));
    return page.getByRole("link", { name: "room-99", exact: true }).last().isVisible();
  });
}
