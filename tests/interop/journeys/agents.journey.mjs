// Agents: bringing one in.

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
