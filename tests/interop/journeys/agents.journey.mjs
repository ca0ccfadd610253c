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
  await page.getByText("Waiting for @pathfinder…").waitFor();
  await watcher.checkAccess(page, "the settings of a client");

  await page.getByRole("radio", { name: "Other" }).check();
  const file = page.locator("figure", { hasText: "The client's settings for MCP" });
  await file.getByRole("button", { name: "Copy" }).click();
  await file.getByRole("button", { name: "Copied" }).waitFor();
  const copied = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  const [server] = Object.values(copied.mcpServers);
  const client = new Client({ name: "stoa-journey", version: "1.0.0" }, {});
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: server.headers } }));
  const call = async (name, args = {}) => (await client.callTool({ name, arguments: args })).structuredContent;
  try {
    equal((await call("my_status")).name, "pathfinder", "who the client is");
    await page.getByText("@pathfinder is connected").waitFor();
    await page.getByText("my_status").waitFor();
    await page.getByRole("button", { name: "Continue to first message" }).click();
    await page.getByLabel(/^Message @pathfinder/).fill("What do you see?");
    const waiting = call("wait_for_messages", { timeout_seconds: 15 });
    await page.keyboard.press("Enter");
    const { items } = await waiting;
    equal(items.map(({ from, content }) => [from, content]), [["admin", "What do you see?"]], "what the agent gets");
    await call("send_message", { to: "admin", body: "Land, ahead.", reply_to: items[0].id });
    await article(page, "Land, ahead.").waitFor();
    await page.getByText("@pathfinder has answered").waitFor();
    await watcher.checkAccess(page, "the first answer");
  } finally {
    await client.close();
  }
  const { members } = await hub.admin.call("GET", "/api/channels/ops");
  equal(members.some(({ name }) => name === "pathfinder"), true, "whether it is in the channel");
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
  const calls = page.getByRole("region", { name: "What @scout does" });
  await calls.getByText("called send_message").waitFor();
  await watcher.checkAccess(page, "an agent that is connected");

  // It is passive, as new ones are: nothing is wrong with that.
  await page.getByRole("tab", { name: "Overview" }).click();
  const chain = page.getByRole("region", { name: "When a message arrives" });
  await chain.getByText("passive: nothing starts it").waitFor();
  equal(await chain.getByText("stops here").count(), 0, "what is said to be wrong");
  await watcher.checkAccess(page, "a passive agent");
  await chain.getByRole("link", { name: "Change what starts it" }).click();
  await page.getByLabel("Mode").waitFor();

  // Somebody else's conversations are not shown, nor told of as one's own.
  watcher.allow(/404/);
  const other = await watcher.page(page.context());
  await other.goto(`${hub.url}/dm/bob?as=rover`);
  await other.getByRole("alert").getByText("There is no such agent.").waitFor();
  equal(await other.getByText(/as the owner/).count(), 0, "whether it is said to be one's own");
  await watcher.checkAccess(other, "a conversation that is refused");

  await hub.admin.call("DELETE", "/api/agents/scout");
  await page.getByText("@scout is gone").waitFor();
  await watcher.checkAccess(page, "an agent that is gone");
  await page.getByRole("link", { name: "Go to your agents" }).click();
  await page.getByText("You have no agents yet").waitFor();
}
