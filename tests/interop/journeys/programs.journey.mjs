// Known programs on the page: choosing one, seeing it work, and waiting for the provider of its model.

import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { equal, until } from "./frame.mjs";

const RECORDED = fileURLToPath(new URL("../../../crates/stoa-programs/recorded/", import.meta.url));

const article = (page, text) => page.locator("article", { hasText: text });

/** Puts a stand-in for Claude Code where the hub looks for it. It says its version and prints what the real one has printed. */
async function install(hub, text) {
  const folder = join(hub.folder, "bin");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "claude");
  writeFileSync(file, `#!/bin/sh\nif [ "$1" = --version ]; then echo "2.1.325 (Claude Code)"; exit 0; fi\n${text}\n`);
  chmodSync(file, 0o755);
  return folder;
}

const withPath = (hub) => hub.configure({ STOA_RUN_PATH: `${join(hub.folder, "bin")}:/usr/bin:/bin` });

/** Somebody who has read nothing picks Claude Code, adds what the page says is missing, writes, and gets an answer with its cost. */
export async function programChosen({ hub, watcher }) {
  await hub.agent("scribe", "Scribe");
  mkdirSync(join(hub.folder, "bin"));
  await withPath(hub);
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/agents/scribe?tab=runs`);
  const card = (name) => page.getByRole("radio", { name });
  await page.getByText("Not installed on the server").first().waitFor();
  await card("Claude Code").check();
  await page.getByText("When you save, messages start @scribe. Until then, they wait in its inbox.").waitFor();
  await page.getByText("npm install -g @anthropic-ai/claude-code").waitFor();
  await page.getByText(`stoa admin --data ${hub.folder} secrets set ANTHROPIC_API_KEY --scope agent:scribe`).waitFor();
  await page.getByText("only you and your agents can start this agent").waitFor();
  await watcher.checkAccess(page, "a card whose command is missing");
  await page.getByRole("radio", { name: "All my agents" }).check();
  await page.getByText(`stoa admin --data ${hub.folder} secrets set ANTHROPIC_API_KEY --scope user:admin`).waitFor();

  // The page notices what is added on the server.
  await install(hub, `tail -n +2 '${RECORDED}claude-code-success.jsonl'`);
  await page.getByText("Version 2.1.325 found on the server").waitFor();
  await hub.operateWith("an-anthropic-key-for-tests\n", "secrets", "set", "ANTHROPIC_API_KEY", "--scope", "user:admin");
  await page.getByText("Key ANTHROPIC_API_KEY found").waitFor();
  await page.getByRole("region", { name: "What Claude Code still needs" }).waitFor({ state: "detached" });

  await page.getByLabel("Model").fill("opus");
  await page.getByLabel("Tools").selectOption({ label: "Stoa and files" });
  await page.getByLabel("Turns per run").fill("20");
  await page.getByLabel("Cost per run, in dollars").fill("0.50");
  await page.getByRole("switch", { name: "Continue sessions" }).click();
  await page.getByText("Show command").click();
  await page.getByText(/^claude -p .*--model opus --max-turns 20 --max-budget-usd 0\.5$/).waitFor();
  await watcher.checkAccess(page, "the settings of a card");
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByText("All changes saved.").waitFor();
  const { trigger_mode, harness } = await hub.admin.call("GET", "/api/agents/scribe");
  const { adapter, model, tools, max_turns, max_cost_usd, resume, command } = harness;
  equal([trigger_mode, adapter, model, tools, max_turns, max_cost_usd, resume], ["reactive", "claude-code", "opus", "files", 20, 0.5, true], "what is stored");
  equal(command, undefined, "the command that is stored");

  await page.getByRole("link", { name: "Message", exact: true }).click();
  await page.getByText("Runs with Claude Code").waitFor();
  await page.getByLabel(/^Message @scribe/).fill("Say hello.");
  await page.keyboard.press("Enter");
  await article(page, "Done: I wrote to admin.").waitFor();
  const asked = article(page, "Say hello.").first();
  await asked.getByText(/Done/).waitFor();
  await asked.getByText("< $0.01").waitFor();
  await watcher.checkAccess(page, "an answer with its cost");
}

/** The same in the first steps: Claude Code is a card there. */
export async function programChosenInWelcome({ hub, watcher }) {
  await hub.agent("scout", "Scout");
  await install(hub, `tail -n +2 '${RECORDED}claude-code-success.jsonl'`);
  await withPath(hub);
  const page = await watcher.page(await watcher.window(hub.admin, { viewport: { width: 360, height: 740 } }));
  await page.goto(`${hub.url}/welcome?agent=scout`);
  await page.getByRole("radio", { name: "Stoa starts the agent" }).check();
  await page.getByRole("radio", { name: "Claude Code" }).check();
  await page.getByText("Version 2.1.325 found on the server").waitFor();
  await page.getByText(`stoa admin --data ${hub.folder} secrets set ANTHROPIC_API_KEY --scope agent:scout`).waitFor();
  await watcher.checkAccess(page, "cards in the first steps");
  equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, "whether the cards fit a phone");
  await page.getByRole("button", { name: "Use Claude Code" }).click();
  await page.getByText("Saved. A message from you now starts Claude Code, which needs its key first.").waitFor();
  await page.getByRole("button", { name: "Continue to first message" }).click();
  await page.getByLabel("Message @scout").press("Enter");
  await article(page, "Done: I wrote to admin.").waitFor();
  await page.getByText("@scout replied. Your agent works.").waitFor();
}

/** A run waits for the provider of its model: every place says until when, and it can be cancelled. */
export async function deferredRun({ hub, watcher }) {
  const mended = join(hub.folder, "mended");
  const outage = join(hub.folder, "outage.jsonl");
  const said = { is_error: true, api_error_status: 529, session_id: "5c1e", num_turns: 1, result: "API Error: 529 Overloaded. Try again in 20 minutes." };
  writeFileSync(outage, `${JSON.stringify({ type: "result", subtype: "success", ...said, usage: { input_tokens: 10, output_tokens: 1 } })}\n`);
  await install(hub, `[ -e '${mended}' ] && exec tail -n +2 '${RECORDED}claude-code-success.jsonl'\ncat '${outage}'\nexit 1`);
  await withPath(hub);
  const harness = { backend: "subprocess", adapter: "claude-code" };
  await hub.admin.call("POST", "/api/agents", { name: "scribe", trigger_mode: "reactive", cooldown_seconds: 0, harness });
  const statusOf = async (id) => (await hub.admin.call("GET", "/api/runs")).items.find((run) => run.id === id)?.status;
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/dm/scribe`);
  await page.getByLabel(/^Message @scribe/).fill("Write the notes");
  await page.keyboard.press("Enter");
  await until("the run is deferred", async () => (await statusOf(1)) === "deferred");
  const again = /Starts again (on .* )?at \d/;
  const asked = article(page, "Write the notes").first();
  await asked.getByText(again).waitFor();
  await asked.getByText("The provider of the model is overloaded").waitFor();
  await page.getByText("waits for the provider of its model").waitFor();
  await watcher.checkAccess(page, "a message whose run is deferred");
  await page.goto(`${hub.url}/runs`);
  await page.getByText("0 running, 1 deferred").waitFor();
  await page.getByRole("button", { name: /^Deferred/ }).click();
  await page.waitForURL(/status=deferred/);
  await page.getByRole("table").getByText(again).waitFor();
  await watcher.checkAccess(page, "runs that are deferred");
  await page.getByRole("table").getByRole("link", { name: "1", exact: true }).click();
  await page.getByRole("heading", { name: "Run 1" }).waitFor();
  await page.getByText(again).first().waitFor();
  await page.getByRole("complementary", { name: "Facts" }).getByText("Starts again").waitFor();
  await watcher.checkAccess(page, "a run that is deferred");
  await page.getByRole("button", { name: "Cancel run 1" }).click();
  await until("the run is cancelled", async () => (await statusOf(1)) === "cancelled");
  await page.getByRole("list", { name: "Timeline" }).getByText("The run was cancelled.").waitFor();

  writeFileSync(mended, "");
  await page.getByRole("button", { name: "Retry run 1" }).click();
  await page.waitForURL(/\/runs\/2$/);
  await page.getByRole("heading", { name: "Finished" }).waitFor();
}
