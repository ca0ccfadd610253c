// Coming in, talking, reading.

import { equal, until } from "./frame.mjs";

const article = (page, text) => page.locator("article", { hasText: text });

/** The printed password logs in, and leads to the inbox. */
export async function firstRun({ hub, watcher }) {
  const page = await watcher.page(await watcher.window());
  await page.goto(`${hub.url}/`);
  await page.waitForURL(/\/login/);
  await page.getByLabel("Username").fill("admin");
  await page.getByLabel("Password").fill(hub.password);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Inbox" }).waitFor();
  await watcher.checkAccess(page, "the inbox");
}

/** What one sends is there at once, stays there, and is seen by others. */
export async function sending({ hub, watcher }) {
  const bob = await hub.person("bob");
  const [own, other] = [await watcher.page(await watcher.window(hub.admin)), await watcher.page(await watcher.window(bob))];
  for (const page of [own, other]) {
    await page.goto(`${hub.url}/channels/general`);
    await page.getByLabel("Message #general").waitFor();
  }
  await own.getByLabel("Message #general").fill("hello **there**");
  await own.keyboard.press("Enter");
  await article(own, "hello there").waitFor();
  await article(other, "hello there").waitFor();
  equal(await article(other, "hello there").locator("strong").innerText(), "there", "what is bold");
  await own.reload();
  await article(own, "hello there").waitFor();
  await watcher.checkAccess(own, "a channel");
}

/** What could not be sent is kept, and is sent once however often it is tried. */
export async function sendingFails({ hub, watcher }) {
  watcher.allow(/ERR_|Failed to load|500|503/);
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/general`);
  await page.getByLabel("Message #general").waitFor();
  // The first time it arrives, but its answer is lost.
  let tries = 0;
  await page.route("**/api/messages", async (route) => {
    tries += 1;
    if (tries === 1) {
      await route.fetch();
      await route.abort("connectionreset");
    } else {
      await route.continue();
    }
  });
  await page.getByLabel("Message #general").fill("only once");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Retry" }).click();
  await until("the message is no longer held up", async () => (await page.getByRole("button", { name: "Retry" }).count()) === 0);
  const { items } = await hub.admin.call("GET", "/api/channels/general/messages");
  equal(items.filter(({ body }) => body === "only once").length, 1, "how often it was sent");
  await until("it is shown once", async () => (await article(page, "only once").count()) === 1);
}

/** A thread shows every answer, wherever it was given. */
export async function threads({ hub, watcher }) {
  const scout = await hub.agent("scout");
  const question = await hub.admin.say("general", "who knows?");
  await scout.dm("admin", "I know, but quietly", { reply_to: question.id });
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/general`);
  await article(page, "who knows?").getByRole("button", { name: "1 reply" }).click();
  const pane = page.getByRole("complementary", { name: "Thread" });
  await article(pane, "I know, but quietly").waitFor();
  await pane.getByText("from the DM with @admin").waitFor();
  await pane.getByLabel("Reply in thread").fill("tell us all");
  await page.keyboard.press("Enter");
  await article(pane, "tell us all").waitFor();
  await watcher.checkAccess(page, "a thread");
  await page.keyboard.press("Escape");
  await pane.waitFor({ state: "detached" });
  // Among the other messages, an answer says what it answers.
  await article(page, "tell us all").getByRole("button", { name: "reply to Administrator (@admin): who knows?" }).click();
  await article(pane, "tell us all").waitFor();
  await page.goto(`${hub.url}/search?q=quietly`);
  await page.getByRole("link", { name: "in a thread" }).click();
  await article(pane, "who knows?").waitFor();
  await watcher.checkAccess(page, "a thread from afar");
}

/** A mention is completed while one types it, and reaches whom it calls. */
export async function mentions({ hub, watcher }) {
  const scout = await hub.agent("scout", "Scout the First");
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/general`);
  const field = page.getByLabel("Message #general");
  await field.pressSequentially("look, @sco");
  await page.getByRole("option", { name: /scout/ }).waitFor();
  await page.keyboard.press("Enter");
  equal(await field.inputValue(), "look, @scout ", "what is completed");
  await field.pressSequentially("please");
  await page.keyboard.press("Enter");
  await article(page, "please").locator(".mention", { hasText: "@scout" }).waitFor();
  const { items } = await scout.call("GET", "/api/inbox");
  equal(items.length, 1, "what is in the inbox of the one called");
  // A channel is completed, too, and leads there within the page.
  await hub.admin.call("POST", "/api/channels", { name: "deep-sea" });
  await page.getByRole("link", { name: "deep-sea" }).waitFor();
  await field.pressSequentially("more in #deep");
  await page.getByRole("option", { name: /deep-sea/ }).waitFor();
  await page.keyboard.press("Enter");
  await field.pressSequentially("`#deep-sea` #nowhere");
  await page.keyboard.press("Enter");
  const line = article(page, "more in");
  await line.getByRole("link", { name: "#deep-sea" }).waitFor();
  equal(await line.getByRole("link").allInnerTexts(), ["#deep-sea"], "what is a link");
  await watcher.checkAccess(page, "a message with a link to a channel");
  await line.getByRole("link", { name: "#deep-sea" }).click();
  await page.getByRole("heading", { level: 1, name: "# deep-sea" }).waitFor();
  equal(page.context().pages().length, 1, "how many tabs there are");
}

/** Whatever people write, nothing of it runs. */
export async function nothingRuns({ hub, watcher }) {
  const scout = await hub.agent("scout", '<img src=x onerror="window.hit=1">');
  const attacks = [
    "<script>window.hit=1</script>",
    '<img src=x onerror="window.hit=1">',
    "[click](javascript:window.hit=1)",
    "![x](https://elsewhere.example/pixel.png)",
    '<svg onload="window.hit=1">',
    "```html\n<script>window.hit=1</script>\n```",
    "a generic Vec<T> and `HashMap<K, V>`",
    "\u202Eright to left\u200B and nothing",
  ];
  for (const attack of attacks) await scout.say("general", attack, { subject: '<b onmouseover="window.hit=1">s</b>' });
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/general`);
  await article(page, "Vec<T>").waitFor();
  equal(await page.evaluate(() => window.hit ?? null), null, "what ran");
  equal(await page.locator("article a[href^=javascript]").count(), 0, "links that run");
}

/** Far up in a channel with more than ten thousand messages one stays where one is, whatever comes. */
export async function longChannel({ hub, watcher }) {
  const scout = await hub.agent("scout");
  const name = await hub.fill(24_000);
  await scout.call("POST", `/api/channels/${name}/join`);
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/${name}`);
  const log = page.getByRole("log", { name: "Messages" });
  await log.waitFor();
  const atEnd = () => log.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight < 5);
  await until("one comes in at the end", atEnd);
  // What comes before is put in above, and what one sees stays where it is.
  for (let round = 0; round < 3; round++) {
    const mark = await log.evaluate(async (box) => {
      // Before one moves: they may come at once.
      const height = box.scrollHeight;
      box.scrollTo(0, 300);
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      const top = box.getBoundingClientRect().top;
      const seen = [...box.querySelectorAll("article")].find((one) => one.getBoundingClientRect().top >= top);
      return { id: seen.id, y: seen.getBoundingClientRect().top, height };
    });
    await until("older ones are there", async () => (await log.evaluate((box) => box.scrollHeight)) > mark.height + 2000);
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    const shift = await page.locator(`#${mark.id}`).evaluate((one, y) => Math.round(one.getBoundingClientRect().top - y), mark.y);
    equal(shift, 0, "how far the page jumped when older messages came");
  }
  await scout.say(name, "news from below");
  await page.getByRole("button", { name: /new/ }).waitFor();
  if ((await page.locator("article").count()) > 60) throw new Error("too many lines are in the page");
  await page.getByRole("button", { name: /new/ }).click();
  await article(page, "news from below").waitFor();
  await until("one is at the end again", atEnd);

  // The very first message is a few requests away, and so is the end again.
  const [first] = (await hub.admin.call("GET", `/api/channels/${name}/messages?after=0&limit=1`)).items;
  let asked = 0;
  const count = (request) => (asked += /\/messages\?/.test(request.url()) ? 1 : 0);
  page.on("request", count);
  await page.goto(`${hub.url}/channels/${name}?at=${first.id}`);
  await page.locator(`#m${first.id}`).waitFor();
  const lastShown = () => log.evaluate((box) => Number([...box.querySelectorAll("article")].at(-1).dataset.message));
  const before = await lastShown();
  const end = await log.evaluate((box) => {
    box.scrollTop = box.scrollHeight;
    return box.scrollHeight;
  });
  // More than the lines turn out to be higher than was thought.
  await until("newer ones are there", async () => (await log.evaluate((box) => box.scrollHeight)) > end + 2000);
  await until("one reads on from there", async () => (await lastShown()) > before);
  equal(await atEnd(), false, "whether one was thrown to the end");
  equal(asked < 10, true, "whether little was asked for");
  page.off("request", count);
  await page.getByRole("button", { name: "Latest" }).click();
  await article(page, "news from below").waitFor();
  await until("one is at the end", atEnd);
  equal(new URL(page.url()).search, "", "what is still asked for");
  // Who writes far from the end is led there, past all that is new.
  await page.goto(`${hub.url}/channels/${name}?at=${first.id}`);
  await page.locator(`#m${first.id}`).waitFor();
  await Promise.all(Array.from({ length: 20 }, (_, at) => scout.say(name, `more news ${at}`)));
  await page.getByRole("textbox", { name: /Message/ }).fill("an answer from afar");
  await page.keyboard.press("Enter");
  await article(page, "an answer from afar").waitFor();
  await until("one is at the end, too", () => log.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight < 20));
  // What could not be sent there leads nobody away from where they go next.
  watcher.allow(/ERR_FAILED|Failed to load/);
  await page.route("**/api/messages", (route) => route.abort());
  await page.getByRole("textbox", { name: /Message/ }).fill("never sent");
  await page.keyboard.press("Enter");
  await article(page, "never sent").getByRole("button", { name: "Retry" }).waitFor();
  await page.goto(`${hub.url}/channels/${name}?at=${first.id}`);
  await page.locator(`#m${first.id}`).waitFor();
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
  equal(new URL(page.url()).searchParams.get("at"), String(first.id), "what is asked for");
}

/** The hub goes and comes back: it is said, and nothing is missed or doubled. */
export async function restart({ hub, watcher }) {
  watcher.allow(/ERR_|Failed to load|EventSource|503/);
  const scout = await hub.agent("scout");
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/general`);
  await scout.say("general", "before");
  await article(page, "before").waitFor();
  await hub.halt();
  await page.getByText("Can't reach the server").waitFor();
  await hub.run();
  await scout.say("general", "after");
  await article(page, "after").waitFor();
  await page.getByText("Can't reach the server").waitFor({ state: "detached" });
  equal(await article(page, "before").count(), 1, "how often the first is shown");
  equal(await article(page, "after").count(), 1, "how often the second is shown");
}

/** On a phone there is a menu, and all else fits. */
export async function phone({ hub, watcher }) {
  await hub.admin.say("general", "a word on the phone");
  const page = await watcher.page(await watcher.window(hub.admin, { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }));
  await page.goto(`${hub.url}/inbox`);
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("link", { name: "general" }).click();
  await article(page, "a word on the phone").waitFor();
  equal(await page.evaluate(() => document.documentElement.scrollWidth <= screen.width), true, "whether it fits");
  await watcher.checkAccess(page, "a channel on a phone");
}

/** Everywhere with the keyboard alone. */
export async function palette({ hub, watcher }) {
  await hub.admin.call("POST", "/api/channels", { name: "deep-sea" });
  const { id } = await hub.admin.say("general", "not to be touched");
  const early = await watcher.page(await watcher.window(hub.admin));
  // What one types before the palette is there is for the palette, and for no message.
  const gate = Promise.withResolvers();
  await early.route(/PaletteDialog/, async (route) => {
    await gate.promise;
    await route.continue();
  });
  await early.goto(`${hub.url}/channels/general`);
  await article(early, "not to be touched").waitFor();
  await early.keyboard.press("k");
  await early.locator(`#m${id}:focus`).waitFor();
  await early.keyboard.press("Control+k");
  await early.keyboard.type("deep");
  gate.resolve();
  await early.getByRole("option", { name: /deep-sea/ }).waitFor();
  await early.keyboard.type("-s");
  equal(await early.getByRole("combobox", { name: "Search or jump to" }).inputValue(), "deep-s", "what was typed");
  equal((await hub.admin.call("GET", `/api/messages/${id}`)).reactions.length, 0, "what was done to the message");
  await early.context().close();
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/inbox`);
  await page.getByRole("heading", { level: 1, name: "Inbox" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search or jump to" }).fill("deep");
  await page.getByRole("option", { name: /deep-sea/ }).waitFor();
  await watcher.checkAccess(page, "the palette");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "# deep-sea" }).waitFor();
  // What the page can do has a name, too.
  const run = async (typed, option) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search or jump to" }).fill(typed);
    await page.locator("[role=option][aria-selected=true]", { hasText: option }).waitFor();
    await page.keyboard.press("Enter");
  };
  await run("dark", "Switch to dark theme");
  await page.locator("html.dark").waitFor();
  await run("mark conversation", "Mark conversation as read");
  await page.getByText("#deep-sea marked as read").waitFor();
  await run("keyboard", "Keyboard shortcuts");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await page.keyboard.press("Escape");
  await run("new agent", "New agent");
  await page.getByRole("dialog", { name: "New agent" }).waitFor();
  await page.keyboard.press("Escape");
  // A channel is made wherever one is, and called what the hub takes.
  await page.getByRole("button", { name: "New channel" }).click();
  const dialog = page.getByRole("dialog", { name: "New channel" });
  await dialog.getByLabel("Name").pressSequentially("Ice & Snow ");
  await dialog.getByText("Will be created as #ice-snow", { exact: true }).waitFor();
  await dialog.getByLabel("Name").press("Home");
  await dialog.getByLabel("Name").pressSequentially("On ");
  equal(await dialog.getByLabel("Name").inputValue(), "on-ice-snow-", "what is in the field");
  await watcher.checkAccess(page, "a new channel");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "# on-ice-snow" }).waitFor();
  // What the page asks just then is refused.
  watcher.allow(/401/);
  await run("log out", "Log out");
  await page.waitForURL(/\/login/);
}

/** Many tabs share one stream, so that none of them is left waiting for a connection. */
export async function manyTabs({ hub, watcher }) {
  const context = await watcher.window(hub.admin);
  const pages = [];
  for (let tab = 0; tab < 8; tab++) {
    const page = await watcher.page(context);
    await page.goto(`${hub.url}/channels/general`);
    await page.getByLabel("Message #general").waitFor();
    pages.push(page);
  }
  await hub.admin.say("general", "to all tabs");
  await Promise.all(pages.map((page) => article(page, "to all tabs").waitFor()));
}
