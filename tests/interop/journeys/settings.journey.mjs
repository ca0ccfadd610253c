// What people settle for themselves: keys, passwords, time.

import { Caller, equal, until } from "./frame.mjs";

const article = (page, text) => page.locator("article", { hasText: text });
const refused = (call) => call.then(() => null, (error) => Number(/: (\d{3}) /.exec(error.message)?.[1]));

/** A key of a channel that was deleted is not one without a limit. */
export async function keyOfDeleted({ hub, watcher }) {
  await hub.agent("scout");
  for (const name of ["ops", "work"]) await hub.admin.call("POST", "/api/channels", { name });
  for (const channels of [["ops"], ["ops", "work"]]) {
    await hub.admin.call("POST", "/api/keys", { name: channels.join(" and "), agent: "scout", permissions: ["messages:read"], channels });
  }
  await hub.admin.call("DELETE", "/api/channels/ops");
  // Another channel, which the keys do not reach.
  await hub.admin.call("POST", "/api/channels", { name: "ops" });
  const page = await watcher.page(await watcher.window(hub.admin));
  for (const path of ["/settings/keys", "/agents/scout?tab=keys"]) {
    await page.goto(hub.url + path);
    const cells = async (name) => (await page.getByRole("row", { name }).getByRole("cell").allInnerTexts()).map((text) => text.trim());
    await page.getByRole("row", { name: "ops and work" }).waitFor();
    equal((await cells("ops and work")).includes("#work, #ops (deleted)"), true, `a key of two channels on ${path}`);
    equal((await cells(/^ops (?!and)/)).includes("#ops (deleted)"), true, `a key of the deleted channel on ${path}`);
    await watcher.checkAccess(page, path);
  }
  // The hub has told the owner of the keys.
  await page.goto(`${hub.url}/dm/system`);
  await page.locator("article", { hasText: "The channel #ops was deleted." }).first().waitFor();
}

/** A key is shown once, does what it may and nothing else, and nothing any more when it is revoked. */
export async function keys({ hub, watcher }) {
  await hub.agent("scout");
  await hub.admin.call("POST", "/api/channels", { name: "ops" });
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/settings/keys`);
  // That there is no managed key does not mean that nobody gets in.
  await page.getByText("No managed keys").waitFor();
  equal(await page.getByRole("link", { name: "Keys of @scout" }).getAttribute("href"), "/agents/scout?tab=keys", "where the agent's own key is");
  await page.getByRole("button", { name: "New key" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill("nightly report");
  await dialog.getByRole("radio", { name: "Read only" }).check();
  await dialog.getByRole("checkbox", { name: "#general" }).check();
  await watcher.checkAccess(page, "making a key");
  await dialog.getByRole("button", { name: "Create key" }).click();
  const key = await dialog.getByRole("textbox", { name: "Key" }).innerText();
  // It cannot be lost by a key that closes everything else.
  await page.keyboard.press("Escape");
  await dialog.getByRole("button", { name: "I have saved it" }).click();
  await page.getByRole("cell", { name: "nightly report", exact: true }).waitFor();
  await page.reload();
  await page.getByRole("cell", { name: "nightly report", exact: true }).waitFor();
  equal((await page.content()).includes(key), false, "whether it is shown again");

  const program = new Caller(hub, key);
  await program.call("GET", "/api/channels/general/messages");
  equal(await refused(program.say("general", "hello")), 403, "what it is told when it writes");
  const elsewhere = await refused(program.call("GET", "/api/channels/ops/messages"));
  equal([403, 404].includes(elsewhere), true, "whether it is kept out of other channels");
  await page.getByRole("button", { name: "Revoke nightly report" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("region", { name: "Revoked keys" }).getByText("nightly report").waitFor();
  equal(await refused(program.call("GET", "/api/channels/general/messages")), 401, "what a revoked key is told");
  await watcher.checkAccess(page, "the keys");
}

/** A new password ends all other sessions. This one goes on, in all its tabs. */
export async function newPassword({ hub, watcher }) {
  // Streams and requests under way have the cookie from before.
  watcher.allow(/401/);
  const elsewhere = new Caller(hub);
  await elsewhere.call("POST", "/auth/login", { username: "admin", password: hub.password });
  const away = await watcher.page(await watcher.window(elsewhere));
  const context = await watcher.window(hub.admin);
  const [page, tab] = [await watcher.page(context), await watcher.page(context)];
  for (const one of [tab, away]) {
    await one.goto(`${hub.url}/channels/general`);
    await one.getByLabel("Message #general").waitFor();
  }
  await page.goto(`${hub.url}/settings/profile`);
  await page.getByLabel("Current password").fill(hub.password);
  for (const label of ["New password", "Confirm new password"]) await page.getByLabel(label, { exact: true }).fill("a longer password");
  await page.getByRole("button", { name: "Change password" }).click();
  await until("the fields are empty again", async () => (await page.getByLabel("Current password").inputValue()) === "");
  await away.waitForURL(/\/login\?next=%2Fchannels%2Fgeneral/);
  // Both tabs hear of what is said afterwards, so their stream is back.
  const { name, value } = (await context.cookies()).find((cookie) => cookie.name.endsWith("stoa_session"));
  hub.admin.cookie = `${name}=${value}`;
  await hub.admin.say("general", "still here");
  await article(tab, "still here").waitFor();
  await tab.getByLabel("Message #general").fill("me too");
  await tab.getByLabel("Message #general").press("Enter");
  await article(tab, "me too").waitFor();
  equal([new URL(page.url()).pathname, new URL(tab.url()).pathname], ["/settings/profile", "/channels/general"], "where the tabs are");
  await watcher.checkAccess(page, "the profile");
}

/** Times are those of the zone that one chooses, at once and in every tab. */
export async function timeZone({ hub, watcher }) {
  const { created_at: at } = await hub.admin.say("general", "what time is it?");
  const context = await watcher.window(hub.admin, { timezoneId: "Asia/Tokyo", locale: "en-GB" });
  const [page, tab] = [await watcher.page(context), await watcher.page(context)];
  const clock = (timeZone) => new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone }).format(new Date(at));
  const time = article(tab, "what time is it?").locator("time");
  await tab.goto(`${hub.url}/channels/general`);
  await time.getByText(clock("Asia/Tokyo")).waitFor();
  await page.goto(`${hub.url}/settings/appearance`);
  await page.getByText("Local (Asia/Tokyo)").waitFor();
  await page.getByRole("radio", { name: "UTC" }).check();
  await time.getByText(clock("UTC")).waitFor();
  await page.getByRole("link", { name: "general", exact: true }).click();
  await article(page, "what time is it?").locator("time").getByText(clock("UTC")).waitFor();
  await article(page, "what time is it?").locator("time").hover();
  equal((await article(page, "what time is it?").locator("time").getAttribute("title")).includes("UTC"), true, "whether the zone is named");
  await page.goto(`${hub.url}/search?q=time`);
  await article(page, "what time is it?").locator("time").getByText(clock("UTC")).waitFor();
  await page.goto(`${hub.url}/settings/appearance`);
  await page.getByRole("radio", { name: /^Local/ }).check();
  await time.getByText(clock("Asia/Tokyo")).waitFor();
  await watcher.checkAccess(page, "the appearance");
}
