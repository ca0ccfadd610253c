// Agents that work in a repository of the server: what they change is a branch, and the page shows it.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { equal, until } from "./frame.mjs";

const ENVIRONMENT = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };

/** Git as a person uses it, without settings of this machine. */
const git = (folder, ...words) => execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...words], { cwd: folder, env: ENVIRONMENT, encoding: "utf8" });

/** Beside the folder of the hub: folders that have files of the hub cannot be worked in. */
function makeRepository(hub) {
  const allowed = `${hub.folder}-projects`;
  const path = join(allowed, "web site");
  mkdirSync(path, { recursive: true });
  git(path, "init", "-q", "-b", "main");
  writeFileSync(join(path, "index.html"), "<h1>Old</h1>\n");
  git(path, "add", "-A");
  git(path, "commit", "-q", "-m", "First");
  return { allowed, path };
}

/** A person chooses a repository for an agent, and reads what a run changed there. */
export async function workspaceOfAnAgent({ hub, watcher }) {
  watcher.allow(/422/);
  const { allowed, path } = makeRepository(hub);
  await hub.configure({ STOA_WORKSPACES: allowed });
  await hub.agent("builder", "Builder");
  await hub.admin.call("PATCH", "/api/agents/builder", { cooldown_seconds: 0 });
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/agents/builder?tab=runs`);
  await page.getByRole("radio", { name: "Own command" }).check();
  await page.getByLabel("Command", { exact: true }).fill(`sh -c 'echo "<h1>New</h1>" > index.html; echo hello > "read me.txt"'`);
  await page.getByRole("radio", { name: "A git repository on the server" }).check();
  const repository = page.getByLabel("Repository", { exact: true });
  const save = page.getByRole("button", { name: "Save changes" });
  await repository.fill("/etc");
  await save.click();
  await page.getByText("Must be in a folder that the operator allows").waitFor();
  await repository.fill(path);
  await save.click();
  await page.getByText("All changes saved.").waitFor();
  await watcher.checkAccess(page, "the settings of a workspace");

  await hub.admin.dm("builder", "Change the title.");
  await until("the run has ended", async () => (await hub.admin.call("GET", "/api/runs/1")).run.status === "succeeded");
  await page.goto(`${hub.url}/runs/1`);
  const changes = page.getByRole("region", { name: "Changes" });
  await changes.getByText("2 files changed, 2 added, 1 removed").waitFor();
  await changes.getByText("stoa/run-1", { exact: true }).first().waitFor();
  await changes.getByText("+<h1>New</h1>").waitFor();
  await changes.getByText("-<h1>Old</h1>").waitFor();
  await watcher.checkAccess(page, "what a run changed");
  const downloaded = page.waitForEvent("download");
  await changes.getByRole("button", { name: "Download patch" }).click();
  const patch = readFileSync(await (await downloaded).path(), "utf8");
  equal(patch, git(path, "diff", "main", "stoa/run-1"), "the patch and what git says");
  equal(git(path, "status", "--porcelain"), "", "what is changed in the repository itself");
}
