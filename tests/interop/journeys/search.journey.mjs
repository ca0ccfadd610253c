// Finding messages, and going places by their name.

import { equal, until } from "./frame.mjs";

const article = (page, text) => page.locator("article", { hasText: text });
const fieldOf = (page) => page.getByRole("combobox", { name: "Search messages" });
const total = (page, count) => page.getByRole("status").getByText(count === 1 ? "1 message" : `${count} messages`, { exact: true }).waitFor();

/** Words, operators, exclusions and dates narrow what is found, and all of it is in the address. */
export async function search({ hub, watcher }) {
  // What the hub does not understand, it says so.
  watcher.allow(/422/);
  const [scout, porter] = [await hub.agent("scout", "Scout"), await hub.agent("porter", "Porter")];
  await hub.admin.call("POST", "/api/channels", { name: "ops" });
  for (const agent of [scout, porter]) await agent.call("POST", "/api/channels/ops/join");
  await scout.say("general", "The **retry** limit is `five`");
  const found = await scout.say("ops", "We reached the retry limit of <b>Vec<T></b>");
  await porter.say("ops", "retry without end");
  const dm = await scout.dm("admin", "the retry limit, between us");

  const context = await watcher.window(hub.admin, { permissions: ["clipboard-read", "clipboard-write"] });
  const page = await watcher.page(context);
  await page.goto(`${hub.url}/inbox`);
  await page.getByRole("heading", { level: 1, name: "Inbox" }).waitFor();
  await page.keyboard.press("/");
  const field = fieldOf(page);
  await page.locator("#search-field:focus").waitFor();
  await watcher.checkAccess(page, "a search before anything is looked for");
  await field.fill("retry limit");
  await page.keyboard.press("Enter");
  await total(page, 3);
  equal(await article(page, "Vec<T>").locator("mark").allInnerTexts(), ["retry", "limit"], "what is marked");
  await article(page, "The retry limit is five").waitFor();
  equal(await page.locator("article b").count(), 0, "what a snippet brings in");

  // A channel is completed and becomes a chip; the list at the side says the same.
  await field.press("End");
  await page.keyboard.type(" channel:op");
  await page.getByRole("option", { name: "ops" }).waitFor();
  await page.keyboard.press("Enter");
  await total(page, 1);
  equal(new URL(page.url()).searchParams.get("channel"), "ops", "the channel in the address");
  const rail = page.getByRole("complementary", { name: "Filters" });
  equal(await rail.getByRole("checkbox", { name: "ops" }).isChecked(), true, "whether the list has it");
  await rail.getByRole("button", { name: "Exclude ops" }).click();
  await total(page, 2);
  equal(new URL(page.url()).searchParams.get("channel"), "-ops", "what is left out in the address");

  // What leaves nothing offers a way on.
  await field.press("End");
  await page.keyboard.type(" -from:scout ");
  await total(page, 0);
  equal(await field.inputValue(), "retry limit ", "what is left of the text");
  await page.getByRole("button", { name: "Search without filters" }).click();
  await total(page, 3);

  // Dates, and what the hub says of one that is none.
  // At the beginning, too, an operator is one as soon as it ends.
  await field.press("Home");
  await page.keyboard.type("after:2999-01-01 ");
  await total(page, 0);
  await page.getByRole("button", { name: "Remove after" }).click();
  await total(page, 3);
  for (const typed of ["after:soon", "has:wings", "-before:2026-01-01"]) {
    const [name, value] = typed.startsWith("-") ? ["q", typed] : typed.split(":");
    const refusal = await fetch(`${hub.url}/api/messages/search?${name}=${value}`, { headers: { Cookie: hub.admin.cookie } });
    const { errors } = await refusal.json();
    await field.fill(`retry ${typed}`);
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText(errors[0].message).waitFor();
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByText("exact phrase").waitFor();
  }

  // Whoever is given the address sees the same.
  await field.fill('"retry limit" in:ops,general');
  await page.keyboard.press("Enter");
  await total(page, 2);
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  equal(link, page.url(), "what is copied");
  const other = await watcher.page(context);
  await other.goto(link);
  await total(other, 2);
  equal(await fieldOf(other).inputValue(), '"retry limit"', "the text of a link");
  await watcher.checkAccess(other, "results");
  await other.close();

  // From the results to where it was said, and back.
  await page.getByRole("button", { name: "Remove channel" }).click();
  await total(page, 3);
  await article(page, "Vec<T>").getByRole("link", { name: "Open in context" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(`${hub.url}/channels/ops?at=${found.id}`);
  await page.locator(`#m${found.id}`).waitFor();
  await page.goBack();
  await total(page, 3);
  await field.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${hub.url}/dm/scout?at=${dm.id}`);
  await page.locator(`#m${dm.id}`).waitFor();

  await page.goto(`${hub.url}/nowhere`);
  await page.getByRole("searchbox", { name: "Search messages" }).fill("retry end");
  await page.keyboard.press("Enter");
  await total(page, 1);
}

/** More results come when one asks for them, and are there again after a reload. */
export async function searchPages({ hub, watcher }) {
  const scout = await hub.agent("scout");
  for (let from = 0; from < 120; from += 40) await Promise.all(Array.from({ length: 40 }, (_, at) => scout.say("general", `line ${from + at}`)));
  const page = await watcher.page(await watcher.window(hub.admin, { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }));
  await page.goto(`${hub.url}/search?q=line&channel=general`);
  await total(page, 120);
  equal(await page.locator("article").count(), 50, "results at first");
  await page.getByRole("button", { name: "Show 50 more" }).click();
  await page.getByRole("button", { name: "Show 20 more" }).waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Show 20 more" }).click();
  await until("all are there", async () => (await page.locator("article").count()) === 120);
  equal(await page.getByRole("button", { name: /^Show/ }).count(), 0, "whether there are more");
  equal(await page.evaluate(() => document.documentElement.scrollWidth <= screen.width), true, "whether it fits");
  // What is deleted meanwhile is not found any more.
  const { items } = await scout.call("GET", "/api/messages/search?q=line&limit=1");
  await scout.call("DELETE", `/api/messages/${items[0].id}`);
  await total(page, 119);
  await page.getByRole("button", { name: /^Filters/ }).click();
  await page.getByRole("checkbox", { name: "scout" }).check();
  await watcher.checkAccess(page, "the filters on a phone");
  await page.getByRole("button", { name: "Show results" }).click();
  await page.getByRole("button", { name: "Remove agent" }).waitFor();
  await watcher.checkAccess(page, "results on a phone");
}

/** Everywhere by name, without a mouse. */
export async function paletteTour({ hub, watcher }) {
  const scout = await hub.agent("scout");
  await scout.say("general", "the anchor is up");
  await hub.admin.call("POST", "/api/channels", { name: "deep-sea" });
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/inbox`);
  await page.getByRole("heading", { level: 1, name: "Inbox" }).waitFor();
  const go = async (typed, option, title) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search or jump to" }).fill(typed);
    await page.getByRole("option", { name: option }).first().waitFor();
    // Down to it, if it is not the first.
    const isThere = () => page.locator("[role=option][aria-selected=true]").filter({ hasText: option }).count();
    for (let steps = 0; steps < 12 && !(await isThere()); steps++) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
  };
  await go("deep", /deep-sea/, "# deep-sea");
  await go("scout", /^scout\s*Message/, "@scout");
  await go("scout", /scout: open agent page/, "scout");
  await go("trac", /Traces/, "Traces");
  await go("thr", /Threads/, "Threads");
  await go("apps", /Settings: apps/, "Apps");
  await go("agents", /^Agents/, "Agents");
  await go("anchor from:scout", /Search messages for “anchor from:scout”/, "Search: anchor");
  await total(page, 1);
  equal(new URL(page.url()).searchParams.get("agent"), "scout", "what the palette looks for");
  await watcher.checkAccess(page, "the end of the tour");
}
