// Runs of agents: from the settings to the answer, and what goes wrong on the way.

import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { equal, until } from "./frame.mjs";

/** What a page sees while its hub is stopped for a moment. */
const HUB_IS_STOPPED = /ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|ERR_INCOMPLETE_CHUNKED_ENCODING|503/;

const article = (page, text) => page.locator("article", { hasText: text });
const dialog = (page) => page.getByRole("dialog");
const fits = (page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

/** A program on the hub's machine. */
function script(hub, name, text) {
  const file = join(hub.folder, name);
  writeFileSync(file, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
  return file;
}

/** A file that a program waits for, so that the journey decides when it goes on. */
function gate(hub, name) {
  const file = join(hub.folder, name);
  return { wait: `while [ ! -e '${file}' ]; do sleep 0.05; done`, open: () => writeFileSync(file, "") };
}

function reactive(hub, name, file, more = {}) {
  return hub.admin.call("POST", "/api/agents", {
    name,
    trigger_mode: "reactive",
    cooldown_seconds: 0,
    harness: { backend: "subprocess", command: [file] },
    ...more,
  });
}

/** The status of a run; undefined before it exists. */
const statusOf = async (hub, id) => (await hub.admin.call("GET", "/api/runs")).items.find((run) => run.id === id)?.status;

/** An agent gets a command on its page, and a message starts it: its run is seen live, and its answer comes. */
export async function runFromThePage({ hub, watcher }) {
  watcher.allow(/422/);
  await hub.agent("scribe", "Scribe");
  const finish = gate(hub, "finish");
  const file = script(hub, "my agent.sh", `echo "step one of $1"\n${finish.wait}\necho "The answer is **42**."`);
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/runs`);
  await page.getByText("No runs yet").waitFor();
  await watcher.checkAccess(page, "no runs");
  await page.goto(`${hub.url}/agents/scribe`);
  await page.getByRole("tab", { name: "Runs" }).click();
  await page.getByText("No runs yet.").waitFor();
  await page.getByRole("radio", { name: "Start a run" }).check();
  await page.getByText("This agent has no command yet").waitFor();
  await page.getByRole("radio", { name: "Own command" }).check();

  // The line becomes words, and what is wrong with it is said beside it.
  await page.getByLabel("Command", { exact: true }).fill("'not closed");
  await page.getByText("A ' is not closed").waitFor();
  await page.getByLabel("Command", { exact: true }).fill(`"${file}" 'two words' | tee`);
  await page.getByText("There is no shell").waitFor();
  await page.getByLabel("Command", { exact: true }).fill(`"${file}" 'two words'`);
  const words = page.getByRole("list", { name: "Command arguments" }).getByRole("listitem");
  equal(await words.allInnerTexts(), [file, "two words"], "the words of the command");
  await page.getByRole("button", { name: "Add variable" }).click();
  await page.getByLabel("Name of variable 1").fill("PATH");
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByRole("alert").getByText(/PATH is reserved/).waitFor();
  await watcher.checkAccess(page, "a variable that is refused");
  await page.getByRole("button", { name: "Remove variable 1" }).click();
  await page.getByLabel("Rest between runs, in seconds").fill("0");
  await page.getByText("Unsaved: When a message arrives, What runs, Command, Rest between runs").waitFor();
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByText("All changes saved.").waitFor();
  const { harness } = await hub.admin.call("GET", "/api/agents/scribe");
  equal(harness.command, [file, "two words"], "the command that is stored");

  await page.getByRole("button", { name: "Check" }).click();
  const checked = page.getByRole("list", { name: "Steps of the check" });
  await checked.getByText("One run at a time").waitFor();
  await page.getByText("@scribe would start.").waitFor();
  equal((await hub.admin.call("GET", "/api/runs")).total, 0, "runs that a check has started");
  await watcher.checkAccess(page, "a check");

  await page.getByRole("link", { name: "Message", exact: true }).click();
  await page.getByLabel(/^Message @scribe/).fill("What is the answer?");
  await page.keyboard.press("Enter");
  const asked = article(page, "What is the answer?").first();
  await asked.getByText(/Working/).waitFor();
  await asked.getByText("step one of two words").waitFor();
  await page.getByRole("link", { name: /Runs 1 running/ }).waitFor();
  await watcher.checkAccess(page, "a message that an agent works on");
  await asked.getByRole("link", { name: "Run 1" }).click();
  await page.getByRole("heading", { name: "Run 1" }).waitFor();
  await page.getByText("Working", { exact: true }).waitFor();
  const output = page.getByRole("region", { name: "Lines of output" });
  await output.getByText("step one of two words").waitFor();
  await watcher.checkAccess(page, "a run under way");

  finish.open();
  await page.getByRole("heading", { name: "Finished" }).waitFor();
  await output.getByText("The answer is **42**.").waitFor();
  // The response is Markdown, the output is not.
  await page.locator("strong", { hasText: "42" }).first().waitFor();
  await page.getByRole("heading", { name: "Outgoing message" }).waitFor();
  await page.getByRole("button", { name: "Retry run 1" }).waitFor();
  await watcher.checkAccess(page, "a run that has succeeded");
  await page.getByRole("link", { name: "Open message" }).last().click();
  await article(page, "The answer is 42.").waitFor();
  await article(page, "What is the answer?").first().getByText(/Done/).waitFor();
  await watcher.checkAccess(page, "an answer");
}

/** A run that fails says why, at the message and on its page, and can be repeated. */
export async function runFails({ hub, watcher }) {
  const mended = join(hub.folder, "mended");
  const file = script(hub, "porter.sh", `[ -e '${mended}' ] && echo "Restarted." && exit 0\necho "the target table is locked" >&2\nexit 3`);
  await reactive(hub, "porter", file);
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/dm/porter`);
  await page.getByLabel(/^Message @porter/).fill("Restart the export");
  await page.keyboard.press("Enter");
  const asked = article(page, "Restart the export").first();
  await asked.getByText(/Failed/).waitFor();
  await asked.getByText(/exit code 3.*the target table is locked/).waitFor();
  await watcher.checkAccess(page, "a message whose run failed");
  await page.goto(`${hub.url}/runs?status=failed`);
  await page.getByRole("table").getByText("The command failed.").waitFor();
  await page.getByText("1 to 1 of 1").waitFor();
  await watcher.checkAccess(page, "runs that failed");
  await page.getByRole("link", { name: "1", exact: true }).click();
  await page.getByRole("region", { name: "Error log" }).getByText("the target table is locked").first().waitFor();
  await page.getByRole("button", { name: "Errors 1" }).click();
  equal(await page.getByRole("region", { name: "Lines of output" }).getByRole("listitem").count(), 1, "lines of errors");
  await watcher.checkAccess(page, "a run that failed");

  writeFileSync(mended, "");
  await page.getByRole("button", { name: "Retry run 1" }).click();
  await page.getByRole("heading", { name: "Run 2" }).waitFor();
  await page.getByRole("heading", { name: "Finished" }).waitFor();
  await page.getByRole("link", { name: "Run 1" }).waitFor();
  await page.goto(`${hub.url}/dm/porter`);
  const again = article(page, "Restart the export").first();
  await again.getByText(/Done/).waitFor();
  await again.getByRole("link", { name: "Run 2" }).waitFor();

  // The hub has sent the owner a message about the first one.
  await page.goto(`${hub.url}/dm/system`);
  await article(page, "Run 1 of @porter failed").getByRole("link", { name: "Open run 1" }).click();
  await page.getByRole("heading", { name: "Run 1" }).waitFor();
}

/** A run is stopped from the list, and one that waits is taken back. The list fits a phone. */
export async function runIsStopped({ hub, watcher }) {
  const never = gate(hub, "never");
  await reactive(hub, "scout", script(hub, "scout.sh", `echo measuring\n${never.wait}`));
  await hub.admin.dm("scout", "Measure the import");
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/runs`);
  const row = page.getByRole("row", { name: /Measure the import/ });
  await row.getByText("measuring").waitFor();
  await row.getByRole("button", { name: "Stop run 1" }).click();
    await row.getByText("Cancelled by you.").waitFor();
  await page.getByText("0 running, 1 finished").waitFor();
  await page.getByRole("button", { name: "Succeeded" }).click();
  await page.getByText("No matching runs").waitFor();
  equal(new URL(page.url()).searchParams.get("status"), "succeeded", "the status in the address");
  await page.getByRole("button", { name: "Clear filter" }).click();
  await row.getByRole("button", { name: "Retry run 1" }).click();
  await until("the run is under way", async () => (await statusOf(hub, 2)) === "running");

  // A second message waits for the run.
  await page.goto(`${hub.url}/dm/scout`);
  await page.getByLabel(/^Message @scout/).fill("Then write it down");
  await page.keyboard.press("Enter");
  const second = article(page, "Then write it down").first();
  await second.getByText(/Waiting/).waitFor();
  await second.getByText("scout starts when run 2 ends.").waitFor();
  await page.getByText("scout is working. It reads your next message when run 2 ends.").waitFor();
  // A third one is taken back before it starts anything.
  await page.getByLabel(/^Message @scout/).fill("And forget it");
  await page.keyboard.press("Enter");
  await article(page, "And forget it").first().getByRole("button", { name: "Withdraw" }).click();
  await page.getByText("This message was deleted.").waitFor();
  await page.getByLabel(/^Message @scout/).fill("");
  await watcher.checkAccess(page, "a message that waits");
  await page.setViewportSize({ width: 360, height: 740 });
  equal(await fits(page), true, "whether the conversation fits a phone");
  for (const path of ["/runs", "/runs/2", "/automation", "/agents/scout?tab=runs"]) {
    await page.goto(hub.url + path);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.getByRole("status", { name: "Loading" }).waitFor({ state: "detached" });
    equal(await fits(page), true, `whether ${path} fits a phone`);
    await watcher.checkAccess(page, `${path} on a phone`);
  }
  await page.goto(`${hub.url}/runs/2`);
  await page.getByRole("button", { name: "Stop run 2" }).click();
  await page.getByRole("heading", { name: "Cancelled" }).waitFor();

  // Now the message that waited has its turn, and is stopped where it was written.
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${hub.url}/dm/scout`);
  await second.getByText(/Working/).waitFor();
  await second.getByRole("button", { name: "Stop run 3" }).click();
  await second.getByText("Cancelled by you.").waitFor();
  await second.getByRole("button", { name: "Retry run 3" }).waitFor();
}

/** Work that starts a run has one line: the state of the work, and beside it the run. */
export async function runOfWork({ hub, watcher }) {
  await hub.admin.call("POST", "/api/channels", { name: "work" });
  await hub.admin.call("PUT", "/api/channels/work/settings", { workflow_enabled: true });
  const never = gate(hub, "never");
  await reactive(hub, "scout", script(hub, "scout.sh", never.wait));
  await reactive(hub, "porter", script(hub, "porter.sh", `echo "the target table is locked" >&2\nexit 3`));
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/work`);
  const measure = await hub.admin.say("work", "@scout measure the import", { action_type: "research" });
  const [measured, moved] = [page.locator(`#m${measure.id}`), article(page, "move the table").first()];
  await measured.getByText(/In progress.*@scout/).waitFor();
  await measured.getByRole("link", { name: "Run 1" }).waitFor();
  equal(await measured.getByText(/Working|Claim|is working/).count(), 0, "second words for the same state");
  await watcher.checkAccess(page, "work with a run");
  await measured.getByRole("button", { name: "Stop run 1" }).click();
  await measured.getByText("@scout was stopped. Cancelled by you.").waitFor();
  await measured.getByText("Proposed").waitFor();
  await hub.admin.say("work", "@porter move the table", { action_type: "research" });
  await moved.getByText(/@porter failed: .*exit code 3.*the target table is locked/).waitFor();
  await moved.getByRole("button", { name: "Retry run 2" }).waitFor();
  await watcher.checkAccess(page, "work with a run that failed");
}

/** A message to an agent that rests says when the agent starts. */
export async function agentRests({ hub, watcher }) {
  await reactive(hub, "scout", script(hub, "scout.sh", "echo measured"), { cooldown_seconds: 600 });
  await hub.admin.dm("scout", "Measure the import");
  await until("the run has ended", async () => (await statusOf(hub, 1)) === "succeeded");
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/dm/scout`);
  await page.getByLabel("Message @scout").fill("Measure it again");
  await page.keyboard.press("Enter");
  await article(page, "Measure it again").getByText(/The agent rests between two runs\. It starts by itself in \d+ min/).waitFor();
}

/** Everything is stopped at once, every page says so, and what waited runs when it is resumed. */
export async function everythingIsStopped({ hub, watcher }) {
  const finish = gate(hub, "finish");
  const file = script(hub, "scribe.sh", `${finish.wait}\necho "Written."`);
  await reactive(hub, "scribe", file);
  await hub.admin.dm("scribe", "Write the notes");
  const page = await watcher.page(await watcher.window(hub.admin, { colorScheme: "dark" }));
  await page.goto(`${hub.url}/inbox`);
  await page.getByRole("link", { name: /Runs 1 running/ }).waitFor();
  await page.getByRole("button", { name: /Administrator/ }).click();
  await page.getByRole("menuitem", { name: "Stop all my agents" }).click();
  await page.getByRole("heading", { name: "Your automation is running" }).waitFor();
  await page.getByRole("table").getByRole("link", { name: "@scribe" }).waitFor();
  await watcher.checkAccess(page, "what may start by itself");
  await page.getByRole("button", { name: "Stop everything" }).click();
  await watcher.checkAccess(page, "stopping everything");
  await dialog(page).getByRole("button", { name: "Stop everything" }).click();
  await page.getByText("You stopped all your agents.").waitFor();
  await until("the run has ended", async () => (await statusOf(hub, 1)) === "cancelled");

  finish.open();
  await page.goto(`${hub.url}/dm/scribe`);
  await article(page, "Write the notes").first().getByText("All agents were stopped.").waitFor();
  await page.getByLabel(/^Message @scribe/).fill("And the summary");
  await page.keyboard.press("Enter");
  await article(page, "And the summary").first().getByText("All agents are stopped.").waitFor();
  await watcher.checkAccess(page, "a message while everything is stopped");
  equal((await hub.admin.call("GET", "/api/runs")).total, 1, "runs while everything is stopped");
  watcher.allow(/503/);
  await page.getByRole("button", { name: "Retry run 1" }).click();
  await page.getByText("All agents are stopped. Resume them first.").waitFor();

  await page.getByRole("status").getByRole("link", { name: "Resume" }).click();
  await page.getByRole("button", { name: "Resume" }).click();
  await dialog(page).getByRole("radio", { name: "Drop" }).check();
  await dialog(page).getByText("start nothing").waitFor();
  await dialog(page).getByRole("radio", { name: "Run", exact: true }).check();
  await watcher.checkAccess(page, "resuming");
  await dialog(page).getByRole("button", { name: "Resume" }).click();
  await page.getByRole("heading", { name: "Your automation is running" }).waitFor();
  await page.getByText("You stopped all your agents.").waitFor({ state: "detached" });
  await page.goto(`${hub.url}/dm/scribe`);
  await page.getByLabel(/^Message @scribe/).fill("And the title");
  await page.keyboard.press("Enter");
  await article(page, "And the title").first().getByText(/Done/).waitFor();

  // The operator's switch is another one, and says so.
  watcher.allow(HUB_IS_STOPPED);
  await page.goto("about:blank");
  await hub.configure({ STOA_ACTING: "off" });
  await page.goto(`${hub.url}/automation`);
  await page.getByText("The operator stopped all agents on this hub.").waitFor();
  await page.getByRole("heading", { name: "Stopped by the operator" }).waitFor();
  await watcher.checkAccess(page, "a hub that is stopped");
}

/** Output is plain text whatever is in it, and a long one does not stop the page. */
export async function runOutputIsLong({ hub, watcher }) {
  const file = script(
    hub,
    "loud.sh",
    `printf 'first <img src=x onerror=alert(1)> **bold** \\302\\255 hidden\\n'
     awk 'BEGIN { for (i = 1; i <= 2100; i++) { printf "line %d ", i; for (j = 0; j < 40; j++) printf "0123456789"; printf "\\n" } }'`,
  );
  await reactive(hub, "loud", file);
  await hub.admin.dm("loud", "Speak");
  await until("the run has ended", async () => ["succeeded", "failed"].includes(await statusOf(hub, 1)));
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/runs/1`);
  const output = page.getByRole("region", { name: "Lines of output" });
  await output.getByText("<img src=x onerror=alert(1)> **bold**").waitFor();
  equal(await output.locator("img").count(), 0, "pictures in the output");
  // The hub has put a sign in the place of a hidden character.
  await output.getByText("\ufffd hidden").waitFor();
  equal((await output.getByRole("listitem").count()) < 120, true, "whether only some lines are drawn");
  await watcher.checkAccess(page, "a long output");
  await page.getByRole("button", { name: "Errors 0" }).click();
  await output.getByText("No errors.").waitFor();
  await page.getByRole("button", { name: "All", exact: true }).click();
  const isEndInSight = (line) => async () => {
    await output.evaluate((box) => box.scrollTo({ top: box.scrollHeight }));
    return (await output.getByText(line).count()) > 0;
  };
  await until("the end of the output is in sight", isEndInSight("Exit code 0."));
  await output.getByRole("button", { name: /Show all/ }).first().click();
  await dialog(page).getByText("Scroll to read more").waitFor();

  // As many and as long steps as a hub keeps, with characters that are marked.
  const details = await hub.admin.call("GET", "/api/runs/1?steps=true");
  const steps = Array.from({ length: 2000 }, (_, at) => ({ ...details.steps[1], text: `step ${at} \u202e${"wide ".repeat(816)}` }));
  await page.route(/\/api\/runs\/1\?/, (route) => route.fulfill({ json: { ...details, steps } }));
  await page.goto(`${hub.url}/runs/1`);
  await output.getByText(/^step 0 /).waitFor();
  equal((await output.locator(".sign").count()) > 0, true, "whether hidden characters are marked");
  equal((await output.getByRole("listitem").count()) < 120, true, "whether only some of the longest steps are drawn");
  await until("the last of the longest steps is in sight", isEndInSight(/^step 1999 /));
}

/** What a program reports is shown, whatever is in it, and a prompt that was cut says so. */
export async function runReports({ hub, watcher }) {
  const result = {
    response: "Read **all** of it. <script>alert(1)</script> [bank.example](https://evil.example/)",
    session_id: "5f0c-91d2",
    ...{ tokens_in: 29410, tokens_out: 1840, tokens_cached: 24700, cost_usd: 0.21 },
  };
  const report = join(hub.folder, "report.json");
  writeFileSync(report, JSON.stringify(result));
  await reactive(hub, "reader", script(hub, "reader.sh", `cp '${report}' result.json`));
  await hub.admin.dm("reader", `Read this: ${"many words ".repeat(4000)}`);
  await until("the run has ended", async () => ["succeeded", "failed"].includes(await statusOf(hub, 1)));
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/runs`);
  const row = page.getByRole("row", { name: /Read this/ });
  await row.getByText("$0.21").waitFor();
  await row.getByText("31.3k").waitFor();
  await row.click();
  await page.getByRole("heading", { name: "Run 1" }).waitFor();
  await page.getByText("Cut at 32 KiB").waitFor();
  const facts = page.getByRole("complementary", { name: "Facts" });
  for (const text of ["29,410", "1,840", "24,700", "$0.21", "5f0c-91d2"]) await facts.getByText(text).waitFor();
  await page.locator("strong", { hasText: "all" }).waitFor();
  await page.getByText("(goes to evil.example)").waitFor();
  equal(await page.locator("main script").count(), 0, "scripts in the page");
  await page.getByRole("button", { name: /^Show all/ }).first().click();
  await dialog(page).getByText("many words").first().waitFor();
  await watcher.checkAccess(page, "all of a text of a run");
  await page.keyboard.press("Escape");
  await watcher.checkAccess(page, "a run with a report");
}

/** A person who may not start programs on the hub's machine reads why. */
export async function commandIsRefused({ hub, watcher }) {
  watcher.allow(/403/);
  const bob = await hub.person("bob");
  await bob.call("POST", "/api/agents", { name: "rover" });
  const page = await watcher.page(await watcher.window(bob));
  await page.goto(`${hub.url}/agents/rover?tab=triggers`);
  await page.getByText("Your agents are not allowed to run commands on this hub. Ask an admin").waitFor();
  await page.getByRole("radio", { name: "Own command" }).check();
  await page.getByLabel("Command", { exact: true }).fill("/bin/true");
  await page.getByRole("button", { name: "Save changes" }).click();
  const refusal = "Your agents are not allowed to run commands on this hub. Choose another way, or ask an admin.";
  await page.getByRole("alert").getByText(refusal).waitFor();
  await watcher.checkAccess(page, "a command that is refused");
  equal(existsSync(join(hub.folder, "runs", "1")), false, "whether a folder was made for a run");

  // Somebody else has changed the same settings in the meantime.
  watcher.allow(/412/);
  await page.getByLabel("Command", { exact: true }).fill("");
  await page.getByRole("radio", { name: "Off" }).check();
  await bob.call("PATCH", "/api/agents/rover", { cooldown_seconds: 7 });
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByRole("alert").getByText("Rest between runs was changed").waitFor();
  await watcher.checkAccess(page, "settings that were changed elsewhere");
  await page.getByRole("button", { name: "Overwrite" }).click();
  await page.getByText("All changes saved.").waitFor();
  const { trigger_mode, cooldown_seconds } = await bob.call("GET", "/api/agents/rover");
  equal([trigger_mode, cooldown_seconds], ["disabled", 7], "what is stored");
  await page.goto(`${hub.url}/welcome?agent=rover`);
  await page.getByRole("radio", { name: "Stoa starts the agent" }).check();
  await page.getByRole("radio", { name: "Own command" }).check();
  await page.getByRole("textbox", { name: "Command" }).fill("/bin/true");
  await page.getByRole("button", { name: "Save command" }).click();
  await page.getByText(refusal).waitFor();
}
