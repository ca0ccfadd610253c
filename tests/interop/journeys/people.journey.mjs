// Who comes in, who does not, and what they may call themselves.

import { equal } from "./frame.mjs";

/** A wrong password is told, and one can go on typing. */
export async function wrongPassword({ hub, watcher }) {
  watcher.allow(/401/);
  const page = await watcher.page(await watcher.window());
  await page.goto(`${hub.url}/channels/general`);
  await page.waitForURL(/\/login/);
  await page.getByLabel("Username").fill("admin");
  await page.getByLabel("Password").fill("not the password");
  await page.keyboard.press("Enter");
  equal(await page.getByRole("alert").innerText(), "Wrong username or password.", "what is said");
  equal(await page.getByLabel("Username").inputValue(), "admin", "the name");
  equal(await page.getByLabel("Password").inputValue(), "", "the password");
  equal(await page.evaluate(() => document.activeElement?.getAttribute("name")), "password", "where one types");
  await watcher.checkAccess(page, "a refused login");
  await page.keyboard.type(hub.password);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "# general" }).waitFor();
}

/** Who is no administrator is told so, and sees nothing of what is for administrators. */
export async function notForMembers({ hub, watcher }) {
  const bob = await hub.person("bob");
  const page = await watcher.page(await watcher.window(bob));
  const asked = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.goto(`${hub.url}/admin?tab=audit`);
  await page.getByText("Admins only").waitFor();
  equal(await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Admin" }).count(), 0, "links to it");
  equal(asked.filter((path) => path.startsWith("/api/admin") || path.startsWith("/api/audit")), [], "what was asked for all the same");
  await watcher.checkAccess(page, "a page that is for others");
  await page.getByRole("link", { name: "Open inbox" }).click();
  await page.getByRole("heading", { level: 1, name: "Inbox" }).waitFor();
}

/** What administrators are told about invitations lets somebody in. */
export async function invitation({ hub, watcher }) {
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/admin`);
  await page.getByText("stoa admin users invite --role member").waitFor();
  const told = await page.getByText(/^curl /).innerText();
  await watcher.checkAccess(page, "how people come in");
  const words = await hub.operate("users", "invite", "--role", "member", "--json");
  const { invite } = JSON.parse(words);
  const filled = told.replace("INVITATION", invite).replace("NAME", "grace").replace("PASSWORD", "grace-password").replace("FULL NAME", "Grace Hopper");
  const [, address, body] = /^curl -H 'Content-Type: application\/json' (\S+) -d '(.*)'$/.exec(filled);
  const answer = await fetch(address, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  equal(answer.status, 201, "what the invited one is told");
  const guest = await watcher.page(await watcher.window());
  await guest.goto(hub.url);
  await guest.getByLabel("Username").fill("grace");
  await guest.getByLabel("Password").fill("grace-password");
  await guest.keyboard.press("Enter");
  await guest.getByRole("heading", { level: 1, name: "Inbox" }).waitFor();
}

/** Names, topics, subjects and metadata are text, wherever they are shown. */
export async function namesDoNothing({ hub, watcher }) {
  const attack = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>';
  const scout = await hub.agent("scout", attack);
  await hub.admin.call("POST", "/api/channels", { name: "ops", topic: attack, description: attack });
  await hub.admin.call("PUT", "/auth/profile", { display_name: attack.slice(0, 60) });
  await scout.call("POST", "/api/channels/ops/join");
  const said = await scout.say("ops", `${attack} Vec<T> [x](javascript:window.hit=1)`, { subject: attack, metadata: { action_type: "comment", note: attack } });
  await scout.dm("admin", attack, { subject: attack, reply_to: said.id });
  const page = await watcher.page(await watcher.window(hub.admin));
  const places = [
    [`/channels/ops?thread=${said.id}`, "1 reply"],
    ["/channels", "onerror"],
    ["/channels/ops/settings", "Members"],
    ["/agents", "onerror"],
    ["/agents/scout", "onerror"],
    [`/search?q=${encodeURIComponent('onerror "Vec<T>"')}`, "Vec<T>"],
    ["/admin", "onerror"],
  ];
  for (const [path, text] of places) {
    await page.goto(hub.url + path);
    await page.locator("main").getByText(text).first().waitFor();
    equal(await page.evaluate(() => window.hit ?? null), null, `what ran on ${path}`);
    equal(await page.locator("img[src=x], a[href^=javascript]").count(), 0, `what came through on ${path}`);
  }
  // Whoever is completed is named, too.
  await page.goto(`${hub.url}/channels/ops`);
  await page.locator("article", { hasText: "Vec<T>" }).waitFor();
  await page.getByLabel("Message #ops").pressSequentially("@sco");
  await page.getByRole("option", { name: /scout/ }).waitFor();
  equal(await page.evaluate(() => window.hit ?? null), null, "what ran among the completions");
  await watcher.checkAccess(page, "names that are more than names");
}
