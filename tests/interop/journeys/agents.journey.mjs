// Agents: bringing one in, and what becomes of it.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { equal } from "./frame.mjs";

const article = (page, text) => page.locator("article", { hasText: text });

/** From a name to the first answer, with a real client that has nothing but what was copied. */
export async function welcome({ hub, watcher }) {
  await hub.admin.call("POST", "/api/channels", { name: "ops" });
  const context = await watcher.window(hub.admin, { permissions: ["clipboard-read", "clipboard-write"] });
  const page = await watcher.page(context);
  await page.goto(`${hub.url}/welcome`);
  await page.getByLabel("Name", { exact: true }).fill("pathfinder");
  await page.getByLabel("Display name").fill("Pathfinder");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "What does Pathfinder do?" }).waitFor();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("checkbox", { name: "#ops" }).check();
  await page.getByRole("button", { name: "Create @pathfinder" }).click();
  await page.getByRole("heading", { name: "Connect Pathfinder" }).waitFor();
  await page.getByText("Waiting for a client to connect as @pathfinder…").waitFor();
  await watcher.checkAccess(page, "the settings of a client");

  await page.getByRole("radio", { name: "Other" }).check();
  const file = page.locator("figure", { hasText: "The client's MCP settings" });
  await file.getByRole("button", { name: "Copy" }).click();
  await file.getByRole("button", { name: "Copied" }).waitFor();
  const copied = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  const [server] = Object.values(copied.mcpServers);
  const client = new Client({ name: "stoa-journey", version: "1.0.0" }, {});
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: server.headers } }));
  const call = async (name, args = {}) => (await client.callTool({ name, arguments: args })).structuredContent;
  try {
    equal((await call("my_status")).name, "pathfinder", "who the client is");
    await page.getByRole("status").getByText("@pathfinder is connected").waitFor();
    await page.getByText("my_status").waitFor();
    await page.getByText(/Last called just now through MCP/).waitFor();
    // A connected agent is connected, whichever way the person looks at.
    await page.getByRole("radio", { name: "Stoa starts the agent" }).check();
    await page.getByRole("button", { name: "Continue to first message" }).waitFor();
    equal(await page.getByText("Continue without connecting").count(), 0, "whether the connection is forgotten");
    await page.getByRole("button", { name: "Continue to first message" }).click();
    // A message is ready, and the person may write another.
    await page.getByText("@pathfinder is connected. Send the message above.").waitFor();
    equal(await page.getByLabel("Message @pathfinder").inputValue(), "Hello! What can you do here?", "the message that is ready");
    await page.getByLabel("Message @pathfinder").fill("What do you see?");
    const waiting = call("wait_for_messages", { timeout_seconds: 15 });
    await page.keyboard.press("Enter");
    const { items } = await waiting;
    equal(items.map(({ from, content }) => [from, content]), [["admin", "What do you see?"]], "what the agent gets");
    await call("send_message", { to: "admin", body: "Land, ahead.", reply_to: items[0].id });
    await article(page, "Land, ahead.").waitFor();
    await page.getByText("@pathfinder replied. Your agent works.").waitFor();
    await watcher.checkAccess(page, "the first answer");
    await page.getByRole("link", { name: "Open conversation" }).click();
    await page.waitForURL(/\/dm\/pathfinder$/);
    await article(page, "Land, ahead.").waitFor();
  } finally {
    await client.close();
  }
  // Who comes again is told that there is one, and that it is connected.
  await page.goto(`${hub.url}/welcome`);
  await page.getByRole("region", { name: "Your agents" }).getByText(/is connected; last seen/).waitFor();
  await watcher.checkAccess(page, "another agent");
  const { members } = await hub.admin.call("GET", "/api/channels/ops");
  equal(members.some(({ name }) => name === "pathfinder"), true, "whether it is in the channel");
}

/** An agent that nothing is connected as: later is said to be later, and the command that Stoa starts needs no connection. */
export async function welcomeWithoutClient({ hub, watcher }) {
  await hub.admin.call("POST", "/api/agents", { name: "counter" });
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/welcome?agent=counter`);
  const way = (name) => page.getByRole("radio", { name });
  const steps = page.getByRole("list", { name: "Steps" });
  await way("Later").check();
  await page.getByText("Nobody reads its messages yet.").waitFor();
  await watcher.checkAccess(page, "an agent for later");
  await page.getByRole("button", { name: "Continue to first message" }).click();
  await page.getByText("Nothing is connected as @counter yet.").waitFor();
  await steps.getByText("not connected yet").waitFor();
  // The message goes along to the conversation, unsent.
  await page.getByRole("link", { name: "Open conversation" }).click();
  await page.waitForURL(/\/dm\/counter$/);
  equal(await page.getByLabel("Message @counter").inputValue(), "Hello! What can you do here?", "the message that is ready");

  await page.goto(`${hub.url}/welcome?agent=counter`);
  await way("Stoa starts the agent").check();
  await way("Own command").check();
  await page.getByRole("button", { name: "Save command" }).click();
  await page.getByRole("alert").getByText("Enter a command.").waitFor();
  const command = page.getByRole("textbox", { name: "Command" });
  equal(await command.evaluate((field) => field === document.activeElement), true, "whether the keyboard is in the field");
  await command.fill('sh -c "echo One, two, three."');
  await page.keyboard.press("Enter");
  await page.getByText("A message from you now starts this command.").waitFor();
  await watcher.checkAccess(page, "an agent with a command");
  await page.getByRole("button", { name: "Continue to first message" }).click();
  await page.getByText("It starts @counter's command.").waitFor();
  await steps.getByText("by a command").waitFor();
  await page.getByLabel("Message @counter").press("Enter");
  await article(page, "One, two, three.").waitFor();
  await page.getByText("@counter replied. Your agent works.").waitFor();
  equal(await page.getByText(/not connected|Waiting for a client/).count(), 0, "whether a connection is still waited for");
  await watcher.checkAccess(page, "the answer of a command");
}

/** Pages without anything in them lead on: to a first agent, or to the agents that the person has. */
export async function emptyPagesLeadOn({ hub, watcher }) {
  const newcomer = await hub.person("newcomer");
  const page = await watcher.page(await watcher.window(newcomer));
  const next = (name) => page.getByRole("main").getByRole("link", { name });
  const filled = ["/runs", "/traces", "/deliveries", "/automation", "/settings/apps"];
  for (const path of filled) {
    await page.goto(hub.url + path);
    await next("Add an agent").waitFor();
    await watcher.checkAccess(page, `${path} without anything`);
  }
  await newcomer.call("POST", "/api/agents", { name: "scout" });
  // The agent itself was a call, so there is a trace.
  for (const path of filled.filter((one) => one !== "/traces")) {
    await page.goto(hub.url + path);
    await next("Open your agents").waitFor();
  }
  await page.goto(`${hub.url}/threads`);
  await next("Browse channels").click();
  await page.getByRole("heading", { name: "Channels", level: 1 }).waitFor();
}

/** The top of an agent's page says what a message does to it, and has what its owner needs at once. */
export async function agentAtAGlance({ hub, watcher }) {
  const scout = await hub.agent("scout");
  const harness = { backend: "subprocess", command: ["sleep", "60"] };
  await hub.admin.call("POST", "/api/agents", { name: "sleeper", trigger_mode: "reactive", harness });
  const page = await watcher.page(await watcher.window(hub.admin, { viewport: { width: 1280, height: 900 } }));
  const header = page.locator("header").filter({ has: page.getByRole("heading", { level: 1 }) });
  await page.goto(`${hub.url}/agents/scout`);
  await header.getByText("Not connected").waitFor();
  await header.getByRole("link", { name: "Connect a client" }).click();
  await page.getByRole("tab", { name: "Connect", selected: true }).waitFor();
  await scout.say("general", "here I am");
  await header.getByText("Its client reads the inbox and replies.").waitFor();

  await hub.admin.dm("sleeper", "Rest a little.");
  await page.goto(`${hub.url}/agents/sleeper`);
  await header.getByText("A message starts its command on the server").waitFor();
  await page.getByRole("region", { name: "Recent runs" }).getByText("Rest a little.").waitFor();
  for (const name of [/^Stop run/, "Pause"]) equal(await header.getByRole("button", { name }).isVisible(), true, `whether ${name} is at the top`);
  await watcher.checkAccess(page, "an agent that works");
  await header.getByRole("button", { name: /^Stop run/ }).click();
  await page.getByRole("region", { name: "Recent runs" }).getByText("Cancelled by you.").waitFor();
  await header.getByRole("link", { name: "Try it" }).click();
  await page.getByRole("region", { name: "Try it" }).locator("textarea:focus").waitFor();
  await header.getByRole("link", { name: "Message" }).click();
  await page.waitForURL(/\/dm\/sleeper$/);
}

/** What is wrong with a form is said at its field, in words; what was typed stays, and the keyboard goes there. */
export async function faultsAreSaidAtTheirFields({ hub, watcher }) {
  watcher.allow(/409|Failed to load resource|request failed/);
  await hub.agent("scout");
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/agents`);
  await page.getByRole("main").getByRole("button", { name: "New agent" }).click();
  const dialog = page.getByRole("dialog");
  const name = dialog.getByLabel("Name", { exact: true });
  const displayName = dialog.getByLabel("Display name");
  const create = dialog.getByRole("button", { name: "Create agent" });
  const isAt = async (field, what) => {
    await field.and(dialog.locator("[aria-invalid=true]:focus")).waitFor();
    equal((await dialog.getByRole("alert").count()) > 0, true, what);
  };
  await create.click();
  await dialog.getByRole("alert").getByText("Name cannot be empty.").waitFor();
  await isAt(name, "whether an empty name is said");
  await name.fill("Not A Name");
  await create.click();
  await dialog.getByRole("alert").getByText(/lowercase letters/).waitFor();
  await isAt(name, "whether a bad name is said");
  equal(await name.inputValue(), "Not A Name", "what was typed");
  await name.fill("rover");
  await displayName.fill("r".repeat(120));
  await dialog.getByText("At most 100 characters. Remove 20.").waitFor();
  await create.click();
  await isAt(displayName, "whether a long name is said");
  equal((await displayName.inputValue()).length, 120, "how much is kept");
  await displayName.fill("Rover");
  await name.fill("scout");
  await create.click();
  await dialog.getByRole("alert").getByText("“scout” is taken.").waitFor();
  await isAt(name, "whether a taken name is said");
  await watcher.checkAccess(page, "a name that is taken");
  await name.fill("rover");
  await hub.halt();
  await create.click();
  await dialog.getByRole("alert").getByText(/What you typed is kept/).waitFor();
  equal(await name.inputValue(), "rover", "what was typed");
  await hub.run();
  await create.click();
  await page.getByRole("heading", { name: "@rover is ready" }).waitFor();

  // The wizard says at once that a name is taken, and so do the settings about a password.
  await page.goto(`${hub.url}/welcome`);
  await page.getByLabel("Name", { exact: true }).fill("scout");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("“scout” is taken.").waitFor();
  await page.getByLabel("Name", { exact: true }).and(page.locator(":focus")).waitFor();
  await page.goto(`${hub.url}/settings/profile`);
  await page.getByLabel("Current password").fill("something");
  await page.getByRole("button", { name: "Change password" }).click();
  await page.getByRole("alert").getByText("Enter a new password.").waitFor();
  await page.getByLabel("New password", { exact: true }).and(page.locator(":focus")).waitFor();
}

/** Whether an agent is connected, what a message does to it, and that it is gone, are told as they are. */
export async function standing({ hub, watcher }) {
  const scout = await hub.agent("scout", "Scout");
  const bob = await hub.person("bob");
  await bob.call("POST", "/api/agents", { name: "rover" });
  await scout.say("general", "here I am");
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/agents/scout?tab=connect`);
  await page.getByText("@scout is connected").waitFor();
  await page.getByText(/Last called just now through the HTTP API/).waitFor();
  await scout.say("general", "and again");
  const calls = page.getByRole("region", { name: "Activity of @scout" });
  await calls.getByText("called send_message").waitFor();
  await watcher.checkAccess(page, "an agent that is connected");

  // It is passive, as new ones are: nothing is wrong with that.
  await page.getByRole("tab", { name: "Overview" }).click();
  const chain = page.getByRole("region", { name: "When a message arrives" });
  await chain.getByText("The message waits until the agent checks its inbox.").waitFor();
  equal(await chain.getByText("stops here").count(), 0, "what is said to be wrong");
  await watcher.checkAccess(page, "a passive agent");
  await chain.getByRole("link", { name: "Change what it does" }).click();
  await page.getByRole("radio", { name: "Wait in the inbox" }).waitFor();

  // Somebody else's conversations are not shown, nor told of as one's own.
  watcher.allow(/404/);
  const other = await watcher.page(page.context());
  await other.goto(`${hub.url}/dm/bob?as=rover`);
  await other.getByRole("alert").getByText("No such agent.").waitFor();
  equal(await other.getByText(/as the owner/).count(), 0, "whether it is said to be one's own");
  await watcher.checkAccess(other, "a conversation that is refused");

  await hub.admin.call("DELETE", "/api/agents/scout");
  await page.getByText("@scout not found").waitFor();
  await watcher.checkAccess(page, "an agent that is gone");
  await page.getByRole("link", { name: "Show your agents" }).click();
  await page.getByText("You have no agents yet").waitFor();
}

/** Of many agents only those in sight are drawn, and all of them can be come to: by scrolling, by the keyboard, by their names. */
export async function manyAgents({ hub, watcher }) {
  const names = Array.from({ length: 90 }, (_, at) => `agent-${String(at).padStart(2, "0")}`);
  await Promise.all(names.map((name) => hub.agent(name, `Agent ${name.slice(-2)}`)));
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/agents`);
  const table = page.getByRole("table");
  const link = (name) => table.getByRole("link", { name, exact: true });
  await link("Agent 00").waitFor();
  equal((await table.getByRole("row").count()) < 60, true, "whether only some are drawn");
  equal(await table.getAttribute("aria-rowcount"), "91", "how many there are said to be");
  await watcher.checkAccess(page, "many agents");
  await link("Agent 00").focus();
  for (let at = 1; at < 40; at += 1) await page.keyboard.press("Tab");
  equal(await page.evaluate(() => document.activeElement.textContent), "Agent 39", "where the keyboard is after as many steps");
  await table.hover();
  await page.mouse.wheel(0, 100_000);
  await link("Agent 89").waitFor();
  equal(await page.evaluate(() => document.activeElement.textContent), "Agent 39", "whether the keyboard has kept its place");
  await page.getByRole("button", { name: "What does “On a message” mean?" }).press("Enter");
  await page.getByText(/a connected client reads it/).waitFor();
  await page.getByLabel("Find").fill("agent-71");
  await link("Agent 71").waitFor();
  equal(await table.getByRole("row").count(), 2, "what is found");
  await page.getByLabel("Find").fill("");
  await link("Agent 00").waitFor();
  await page.setViewportSize({ width: 360, height: 740 });
  await link("Agent 00").waitFor();
  equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, "whether it fits a phone");
  await watcher.checkAccess(page, "many agents on a phone");
}
