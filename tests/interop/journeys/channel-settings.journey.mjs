// The settings of a channel: what is saved is in force, and who leaves takes their agents along.

import { equal, until } from "./frame.mjs";

/** Every switch of the workflow is saved, shown on the board, and does what it says. */
export async function settingsSave({ hub, watcher }) {
  const scribe = await hub.agent("scribe");
  await hub.admin.call("POST", "/api/channels", { name: "work" });
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/work/settings`);
  const form = page.getByRole("form", { name: "Workflow" });
  await form.getByRole("switch", { name: "Workflow", exact: true }).click();
  await form.getByRole("switch", { name: "Auto-approve trusted agents" }).click();
  await form.getByLabel("Approve threshold").fill("0");
  await form.getByLabel("Publish threshold").fill("0.5");
  await form.getByLabel("Remind after").fill("30m");
  await form.getByLabel("Escalate after").fill("0");
  await form.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  const { channel } = await hub.admin.call("GET", "/api/channels/work");
  const saved = {
    workflow_enabled: true,
    auto_approve: true,
    approve_threshold: 0,
    publish_threshold: 0.5,
    stalemate_remind_after: "30m",
    stalemate_escalate_after: "0",
  };
  equal(Object.fromEntries(Object.keys(saved).map((name) => [name, channel[name]])), saved, "what is saved");
  await page.getByText("Owners cannot leave their channel").waitFor();
  equal(await page.getByRole("button", { name: "Leave #work" }).count(), 0, "ways to leave for the owner");
  await watcher.checkAccess(page, "the settings of a channel");

  // Messages are work; the hub approves what trusted agents propose; publishing takes trust.
  const draft = await scribe.say("work", "A draft", { metadata: { action_type: "publish" } });
  equal(draft.status, "pending", "the status of a new message");
  equal(draft.reactions.map(({ reaction, from }) => [reaction, from.name]), [["approve", "system"]], "who approved it");
  const refused = await scribe.call("POST", `/api/messages/${draft.id}/reactions`, { reaction: "published" }).catch((error) => String(error));
  equal(/trust_too_low/.test(refused), true, "whether publishing without trust is refused");
  await page.goto(`${hub.url}/channels/work/board`);
  const strip = page.getByRole("list", { name: "Channel workflow" });
  await strip.waitFor();
  equal(
    (await strip.getByRole("listitem").allInnerTexts()).map((text) => text.trim()),
    ["remind after 30m", "escalate never", "approve ≥ 0", "publish ≥ 0.5", "auto-approve on"],
    "how the board says it",
  );
  await page.getByRole("region", { name: "Approved" }).getByText("A draft").waitFor();

  // What cannot be is said at its field, and nothing is sent.
  await page.getByRole("link", { name: "Channel settings" }).click();
  await form.getByLabel("Remind after").fill("soon");
  await form.getByText("Enter a time such as 30m").waitFor();
  equal(await form.getByRole("button", { name: "Save" }).isDisabled(), true, "whether it cannot be saved");
}

/** Who is taken out stays out, and is told so wherever they try; the name of a deleted channel is not for everybody. */
export async function takenOut({ hub, watcher }) {
  watcher.allow(/403|409/);
  const bob = await hub.person("bob");
  for (const name of ["work", "ops"]) await hub.admin.call("POST", "/api/channels", { name });
  await hub.admin.call("DELETE", "/api/channels/ops");
  await bob.call("POST", "/api/channels/work/join");
  await hub.admin.say("work", "what everybody sees");
  const owners = await watcher.page(await watcher.window(hub.admin));
  await owners.goto(`${hub.url}/channels/work/settings`);
  await owners.getByRole("button", { name: "Remove bob" }).click();
  await owners.getByText("@bob removed from #work").waitFor();
  // It stays as long as the mouse is on it, however slow the rest is.
  await owners.getByRole("button", { name: "Undo" }).hover();

  const page = await watcher.page(await watcher.window(bob));
  const refused = page.getByText("You cannot join, post, edit or react in this channel: its owner or an admin removed you. Ask the owner of the channel to add you again.");
  await page.goto(`${hub.url}/channels`);
  await page.getByRole("listitem").filter({ hasText: "work" }).getByRole("button", { name: "Join" }).click();
  await refused.waitFor();
  await page.goto(`${hub.url}/channels/work`);
  const row = page.locator("article", { hasText: "what everybody sees" });
  await row.getByRole("button", { name: "Message actions" }).click();
  await page.getByRole("menuitemcheckbox", { name: "Approve" }).click();
  await refused.waitFor();
  await page.goto(`${hub.url}/channels/work`);
  await page.getByLabel("Message #work").fill("let me in");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("You cannot join, post, edit or react in this channel").waitFor();
  await watcher.checkAccess(page, "a channel that one was taken out of");

  await page.goto(`${hub.url}/channels`);
  await page.getByRole("button", { name: "New channel" }).first().click();
  const dialog = page.getByRole("dialog", { name: "New channel" });
  await dialog.getByLabel("Name").fill("ops");
  await dialog.getByRole("button", { name: "Create channel" }).click();
  await dialog.getByText("The name ops belonged to a deleted channel. Only its last owner or an admin can use it again.").waitFor();

  // Adding them again is what lets them in.
  await owners.getByRole("button", { name: "Undo" }).click();
  await until("bob is in", async () => (await hub.admin.call("GET", "/api/channels/work")).members.some(({ name }) => name === "bob"));
}

/** A member who leaves is asked first, and their agents leave with them. */
export async function leaving({ hub, watcher }) {
  const bob = await hub.person("bob");
  await bob.call("POST", "/api/agents", { name: "helper" });
  await hub.admin.call("POST", "/api/channels", { name: "work" });
  await bob.call("POST", "/api/channels/work/join");
  await bob.call("PUT", "/api/channels/work/members/helper");
  const page = await watcher.page(await watcher.window(bob));
  await page.goto(`${hub.url}/channels/work/settings`);
  await page.getByText("Only the owner, @admin, and admins can change this channel").waitFor();
  equal(await page.getByRole("switch", { name: "Workflow", exact: true }).isDisabled(), true, "whether a member cannot switch");
  await page.getByText("Your agents will leave too: @helper").waitFor();
  await watcher.checkAccess(page, "the settings of somebody else's channel");
  await page.getByRole("button", { name: "Leave #work" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Leave", exact: true }).click();
  await page.getByText("Left #work", { exact: true }).waitFor();
  await until("both are out", async () => {
    const { members } = await hub.admin.call("GET", "/api/channels/work");
    return members.map(({ name }) => name).join() === "admin";
  });
}

/** A channel without messages offers what the person may do first, and nothing else. */
export async function emptyChannel({ hub, watcher }) {
  const bob = await hub.person("bob");
  for (const name of ["work", "talk"]) await hub.admin.call("POST", "/api/channels", { name });
  await hub.admin.call("PUT", "/api/channels/work/settings", { workflow_enabled: true });
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/work`);
  await page.getByText("No messages yet").waitFor();
  await page.getByRole("button", { name: "Add members" }).click();
  await page.getByRole("dialog", { name: "Members of #work" }).getByLabel("Add a person or an agent").waitFor();
  await page.keyboard.press("Escape");
  await watcher.checkAccess(page, "an empty channel");
  await page.getByRole("button", { name: "Propose work" }).click();
  await page.getByRole("switch", { name: "Propose", checked: true }).waitFor();
  await page.keyboard.type("Write the first section");
  await page.keyboard.press("Enter");
  await page.locator("article", { hasText: "Write the first section" }).getByText("Proposed").waitFor();
  equal(await page.getByText("No messages yet").count(), 0, "what is offered after the first message");

  const guest = await watcher.page(await watcher.window(bob));
  await guest.goto(`${hub.url}/channels/talk`);
  await guest.getByRole("button", { name: "Say hello" }).click();
  equal(await guest.getByRole("button", { name: /Add members|Propose work/ }).count(), 0, "what somebody without rights and agents is offered");
  await guest.keyboard.type("hello");
  await guest.keyboard.press("Enter");
  await guest.locator("article", { hasText: "hello" }).waitFor();
}
