// Who people and agents are: cards, profiles, members of a channel, invitations.

import { execFileSync } from "node:child_process";
import { Caller, equal, until } from "./frame.mjs";

const focused = (page) => page.evaluate(() => document.activeElement?.textContent);

/** A name, an avatar and a mention open a card, with the mouse and the keyboard; somebody else's agent has a profile. */
export async function profileCards({ hub, watcher }) {
  const bob = await hub.person("bob");
  const { key } = await bob.call("POST", "/api/agents", { name: "critic", display_name: "Critic" });
  const critic = new Caller(hub, key);
  await hub.agent("scout", "Scout");
  await hub.admin.call("POST", "/api/channels", { name: "research" });
  for (const name of ["bob", "critic", "scout"]) await hub.admin.call("PUT", `/api/channels/research/members/${name}`);
  await hub.admin.call("PUT", "/api/channels/research/settings", { workflow_enabled: true });
  const { id } = await critic.say("research", "ask @scout, not @nobody_else", { metadata: { action_type: "review" } });
  await hub.admin.call("POST", `/api/messages/${id}/reactions`, { reaction: "approve" });
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/research`);
  const card = (name) => page.getByRole("dialog", { name: `Profile of @${name}` });
  const row = page.locator("article", { hasText: "ask" });

  await row.getByRole("button", { name: "Critic" }).click();
  await card("critic").getByRole("heading", { name: "Critic" }).waitFor();
  for (const text of ["agent", "@critic", "#research"]) await card("critic").getByText(text, { exact: true }).waitFor();
  await card("critic").getByText("needed to act alone").waitFor();
  await card("critic").getByRole("meter", { name: "Trust in review" }).waitFor();
  await watcher.checkAccess(page, "a card");
  // The owner's card takes its place, and the focus goes back to the name.
  await card("critic").getByRole("link", { name: "@bob" }).click();
  await card("bob").getByRole("link", { name: "Message" }).waitFor();
  await page.keyboard.press("Escape");
  await card("bob").waitFor({ state: "detached" });
  await until("the name has the focus again", async () => (await focused(page)) === "Critic");
  // The same name closes what it opened.
  await row.locator("span[data-profile]").click();
  await card("critic").getByRole("link", { name: "Message" }).waitFor();
  await row.locator("span[data-profile]").click();
  await card("critic").waitFor({ state: "detached" });

  // By keyboard, for one's own agent: its page is the one with the settings.
  await row.getByRole("link", { name: "@scout" }).focus();
  await page.keyboard.press("Enter");
  equal(await card("scout").getByRole("link", { name: "Open profile" }).getAttribute("href"), "/agents/scout", "the page of an own agent");
  await page.keyboard.press("Escape");
  await card("scout").waitFor({ state: "detached" });
  await until("the mention has the focus again", async () => (await focused(page)) === "@scout");
  watcher.allow(/404/);
  await row.getByRole("link", { name: "@nobody_else" }).press("Enter");
  await card("nobody_else").getByText("No person or agent has this name.").waitFor();
  await page.keyboard.press("Escape");

  await row.getByRole("button", { name: "Critic" }).press("Enter");
  await card("critic").getByRole("link", { name: "Open profile" }).click();
  await page.waitForURL(/\/people\/critic$/);
  await page.getByRole("heading", { level: 1, name: "Critic" }).waitFor();
  await page.getByRole("meter", { name: "Trust in review" }).waitFor();
  await watcher.checkAccess(page, "the profile of somebody else's agent");
  await page.goto(`${hub.url}/agents/critic`);
  await page.waitForURL(/\/people\/critic$/);
  await page.getByRole("link", { name: "Message" }).click();
  await page.waitForURL(/\/dm\/critic$/);
  await page.goto(`${hub.url}/people/nobody_else`);
  await page.getByRole("heading", { level: 1, name: "Page not found" }).waitFor();

  const phone = await watcher.page(await watcher.window(hub.admin, { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }));
  await phone.goto(`${hub.url}/channels/research`);
  await phone.locator("article", { hasText: "ask" }).getByRole("button", { name: "Critic" }).tap();
  await phone.getByRole("dialog", { name: "Profile of @critic" }).getByRole("link", { name: "Message" }).waitFor();
  await watcher.checkAccess(phone, "a card on a phone");
}

/** Names and avatars in the inbox and on boards open the card, too, and the keys of the row still work. The card has a menu. */
export async function cardsElsewhere({ hub, watcher }) {
  const bob = await hub.person("bob");
  const { key } = await bob.call("POST", "/api/agents", { name: "critic", display_name: "Critic" });
  const critic = new Caller(hub, key);
  await hub.agent("scout");
  await hub.admin.call("POST", "/api/channels", { name: "work" });
  for (const name of ["critic", "scout"]) await hub.admin.call("PUT", `/api/channels/work/members/${name}`);
  await hub.admin.call("PUT", "/api/channels/work/settings", { workflow_enabled: true });
  const { id } = await critic.say("work", "Check the numbers", { metadata: { action_type: "review" } });
  await critic.dm("admin", "hello");
  const page = await watcher.page(await watcher.window(hub.admin));
  const card = (name) => page.getByRole("dialog", { name: `Profile of @${name}` });
  const close = async (name) => {
    await card(name).getByRole("link", { name: "Open profile" }).waitFor();
    await page.keyboard.press("Escape");
    await card(name).waitFor({ state: "detached" });
  };

  await page.goto(`${hub.url}/inbox`);
  const row = page.getByRole("region", { name: "Waiting for your approval" }).getByRole("listitem");
  await row.getByRole("button", { name: "Profile of @critic" }).click();
  await close("critic");
  await row.getByRole("button", { name: "@critic", exact: true }).press("Enter");
  await close("critic");
  await until("the name has the focus again", async () => (await focused(page)) === "@critic");
  await page.keyboard.press("a");
  await row.waitFor({ state: "detached" });
  await until("it is approved", async () => (await hub.admin.call("GET", `/api/messages/${id}`)).workflow_state === "approved");

  await page.goto(`${hub.url}/channels/work/board`);
  const work = page.getByRole("article", { name: /^Check the numbers/ });
  await work.getByRole("button", { name: "Profile of @critic" }).click();
  await close("critic");
  await work.getByRole("button", { name: "critic", exact: true }).press("Enter");
  await card("critic").getByRole("button", { name: "More for @critic" }).click();
  await page.getByRole("menuitem", { name: "Add star" }).waitFor();
  equal(await page.getByRole("menuitem").allInnerTexts(), ["Open profile", "Message", "Add star", "Copy link"], "the menu for somebody else's agent");
  await watcher.checkAccess(page, "the menu of a card");
  await page.getByRole("menuitem", { name: "Add star" }).click();
  await page.getByRole("region", { name: "Starred" }).getByRole("link", { name: /^critic/ }).waitFor();
  await close("critic");
  await work.focus();
  await page.keyboard.press("c");
  await until("it is claimed", async () => (await hub.admin.call("GET", `/api/messages/${id}`)).workflow_state === "in_progress");

  // Where the handle is the title, it is not repeated. The menu leads to the profile, whoever owns the agent.
  await page.goto(`${hub.url}/dm/scout`);
  await page.getByText("agent", { exact: true }).waitFor();
  equal(await page.getByRole("main").locator("header").getByText("@scout").count(), 1, "how often the header names the agent");
  await page.goto(`${hub.url}/dm/critic`);
  await page.getByText("@critic · agent").waitFor();
  await page.getByRole("button", { name: "Actions for @critic" }).click();
  await page.getByRole("menuitem", { name: "Open profile" }).click();
  await page.waitForURL(/\/people\/critic$/);

  const phone = await watcher.page(await watcher.window(hub.admin, { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }));
  await hub.admin.say("work", "ask @scout");
  await phone.goto(`${hub.url}/channels/work`);
  await phone.getByRole("link", { name: "@scout" }).tap();
  await phone.getByRole("button", { name: "More for @scout" }).tap();
  await phone.getByRole("menuitem", { name: "Pause scout" }).tap();
  await until("it is paused", async () => (await hub.admin.call("GET", "/api/agents/scout")).paused_at !== null);
}

/** The header of a channel opens its members: owners add and remove, others look. */
export async function membersPanel({ hub, watcher }) {
  const bob = await hub.person("bob");
  await hub.person("cleo");
  await hub.admin.call("POST", "/api/channels", { name: "work" });
  await bob.call("POST", "/api/channels/work/join");
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/work`);
  await page.getByRole("button", { name: "2 members" }).click();
  const panel = page.getByRole("dialog", { name: "Members of #work" });
  await panel.getByLabel("Add a person or an agent").fill("cle");
  await panel.getByRole("option", { name: /cleo/ }).click();
  await panel.getByRole("button", { name: "Remove cleo" }).waitFor();
  await panel.getByLabel("Filter").fill("bo");
  await panel.getByRole("button", { name: "Remove cleo" }).waitFor({ state: "detached" });
  await watcher.checkAccess(page, "the members of a channel");
  // The card of a member is in front of the panel, and the panel stays.
  await panel.getByRole("button", { name: "bob", exact: true }).click();
  const card = page.getByRole("dialog", { name: "Profile of @bob" });
  await card.getByRole("heading", { name: "bob" }).click();
  await panel.waitFor();
  await page.keyboard.press("Escape");
  await card.waitFor({ state: "detached" });
  await panel.waitFor();
  await panel.getByRole("button", { name: "Remove bob" }).click();
  await page.getByRole("dialog", { name: "Remove bob?" }).getByRole("button", { name: "Remove" }).click();
  await page.getByText("@bob removed from #work").waitFor();
  await panel.getByText("No member matches “bo”.").waitFor();
  const members = async () => (await hub.admin.call("GET", "/api/channels/work")).members.map(({ name }) => name).sort().join();
  await until("bob is out", async () => (await members()) === "admin,cleo");

  await hub.admin.call("PUT", "/api/channels/work/members/bob");
  const guest = await watcher.page(await watcher.window(bob));
  await guest.goto(`${hub.url}/channels/work/board`);
  await guest.getByRole("button", { name: "3 members" }).click();
  const list = guest.getByRole("dialog", { name: "Members of #work" });
  await list.getByRole("button", { name: "cleo" }).waitFor();
  equal(await list.getByRole("button", { name: /^(Remove|Add)/ }).count(), 0, "what a member without agents can change");
  // The card leads to the conversation.
  await list.getByRole("button", { name: "cleo", exact: true }).click();
  await guest.getByRole("dialog", { name: "Profile of @cleo" }).getByRole("link", { name: "Message" }).click();
  await guest.waitForURL(/\/dm\/cleo$/);
  await list.waitFor({ state: "detached" });
}

/** Administrators get the command for an invitation, and see and revoke those that exist. */
export async function invitations({ hub, watcher }) {
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/admin`);
  await page.getByText("No invitations yet.").waitFor();
  await page.getByRole("button", { name: "Invite person" }).click();
  const dialog = page.getByRole("dialog", { name: "Invite a person" });
  const note = `Zoë "Z" O'Neill, $HOME \`id\` \\`;
  await dialog.getByRole("textbox").fill(note);
  await dialog.getByLabel("Role").selectOption("admin");
  await dialog.getByLabel("Valid for").selectOption("8 hours");
  const command = await dialog.getByText(/^stoa admin users invite/).innerText();
  await watcher.checkAccess(page, "the command for an invitation");
  const isCut = (code) => code.scrollWidth > code.clientWidth;
  equal(await dialog.getByText(/^stoa admin users invite/).evaluate(isCut), false, "whether a part of the command is hidden");
  // A real shell splits it into the words that the program gets.
  const words = execFileSync("sh", ["-c", `stoa() { printf '%s\\n' "$@"; }\n${command}`], { encoding: "utf8" }).trimEnd().split("\n");
  equal(words, ["admin", "users", "invite", "--for", note, "--from", "admin", "--role", "admin", "--valid", "8h"], "the words of the command");
  await dialog.getByRole("button", { name: "Done" }).click();

  await hub.operate(...words.slice(1));
  await hub.operate("users", "invite", "--for", "Contractor", "--role", "member");
  await page.reload();
  const row = page.getByRole("row", { name: /Contractor/ });
  await row.getByText("Open", { exact: true }).waitFor();
  await page.getByRole("row").filter({ hasText: note }).getByText("in 7 h").waitFor();
  await watcher.checkAccess(page, "invitations");
  await row.getByRole("button", { name: "Revoke Contractor" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke invitation" }).click();
  await row.getByText("Revoked", { exact: true }).waitFor();
  const { items } = await hub.admin.call("GET", "/api/admin/invitations");
  equal(items.map((one) => one.status).sort(), ["open", "revoked"], "what the hub knows");
}
