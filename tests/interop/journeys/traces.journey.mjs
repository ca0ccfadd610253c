// What was done, call by call.

import { readFileSync } from "node:fs";
import { equal, until } from "./frame.mjs";

/** A filter holds for the list, for the way along it and for what is exported. Nobody sees what others' agents do. */
export async function traces({ hub, watcher }) {
  const [scout, ant] = [await hub.agent("scout"), await hub.agent("ant")];
  for (let at = 0; at < 3; at++) {
    const { id } = await scout.say("general", `step ${at}`);
    await ant.say("general", `crumb ${at}`);
    await scout.call("POST", "/api/notifications/mark-read", { channel: "general", message_id: id });
  }
  await until("all of it is noted", async () => (await hub.admin.call("GET", "/api/traces?agent=scout")).total === 6);
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/traces`);
  const rows = page.getByRole("region", { name: "Traces" }).locator("tbody tr");
  await rows.first().waitFor();
  await page.getByLabel("Agent", { exact: true }).selectOption("scout");
  const all = await hub.admin.call("GET", "/api/traces?agent=scout");
  await until("only the agent's are there", async () => (await rows.count()) === all.items.length);
  const action = "send_message";
  await page.getByLabel("Action", { exact: true }).selectOption(action);
  await until("only such calls are there", async () => (await rows.count()) === 3);
  equal(new URL(page.url()).search, `?agent=scout&action=${action}`, "the filter in the address");
  const ids = all.items.filter((trace) => trace.action === action).map(({ id }) => id);

  // Along the filtered list, and not beyond it.
  await rows.first().getByRole("button").click();
  const pane = page.getByRole("complementary", { name: "Trace" });
  await pane.getByRole("heading", { name: `Trace ${ids[0]}` }).waitFor();
  await page.keyboard.press("j");
  await pane.getByRole("heading", { name: `Trace ${ids[1]}` }).waitFor();
  await page.keyboard.press("j");
  await pane.getByRole("heading", { name: `Trace ${ids[2]}` }).waitFor();
  equal(await pane.getByRole("button", { name: /^Next/ }).isDisabled(), true, "whether it goes on");
  await watcher.checkAccess(page, "a trace");
  equal(await pane.getByRole("link", { name: "@scout" }).getAttribute("href"), "/agents/scout", "the way to the agent");
  await page.keyboard.press("Escape");
  await pane.waitFor({ state: "detached" });

  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Export as CSV" }).click()]);
  const [head, ...lines] = readFileSync(await download.path(), "utf8").trim().split(/\r?\n/);
  const column = head.split(",").indexOf("id");
  equal(lines.map((line) => Number(line.split(",")[column])), ids, "what is exported");

  const bob = await hub.person("bob");
  const other = await watcher.page(await watcher.window(bob));
  await other.goto(`${hub.url}/traces?agent=scout`);
  await other.getByText("No matching traces").waitFor();
}
