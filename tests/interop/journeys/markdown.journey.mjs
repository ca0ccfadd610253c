// What people format is drawn as they meant it, within the policy of the page.

import { equal, until } from "./frame.mjs";

const TEXT = [
  "| name | size |\n|:-----|-----:|\n| a | 10 |",
  "- [x] read it\n- [ ] answer",
  "```js\nconst size = 10; // bytes\n```",
].join("\n\n");

/** Columns keep their side, tasks have boxes, and code has colours. Code in an unknown language keeps one. */
export async function formatted({ hub, watcher }) {
  const scout = await hub.agent("scout");
  await scout.say("general", TEXT);
  await scout.say("general", "```klingon\nconst size = 10;\n```");
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/general`);
  const row = page.locator("article", { hasText: "read it" });
  await row.waitFor();
  equal(await row.locator("td").last().evaluate((cell) => getComputedStyle(cell).textAlign), "right", "the side of a column");
  equal(await row.getByRole("checkbox", { name: "Completed task" }).isChecked(), true, "whether it is ticked");
  equal(await row.getByRole("checkbox", { name: "Incomplete task" }).isDisabled(), true, "whether nobody can tick it");
  await until("code has colours", async () => (await row.locator("pre .code-keyword").count()) === 1);
  equal(await row.locator("pre code").innerText(), "const size = 10; // bytes\n", "the code");
  const unknown = page.locator("pre[data-language=klingon]");
  equal([await unknown.count(), await unknown.locator("span").count()], [1, 0], "blocks in an unknown language, and their colours");
  await watcher.checkAccess(page, "a formatted message");
  await page.evaluate(() => document.documentElement.classList.add("dark"));
  await watcher.checkAccess(page, "a formatted message in the dark");
}
