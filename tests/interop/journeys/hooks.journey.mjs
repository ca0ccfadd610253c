// Incoming webhooks: creating them on the page, and what becomes of requests to them.

import { createHmac } from "node:crypto";
import { equal, until } from "./frame.mjs";

const article = (page, text) => page.locator("article", { hasText: text });

/** Sends a request as another service does. */
async function post(url, text, headers = {}) {
  const answer = await fetch(url, { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body: text });
  return [answer.status, (await answer.json()).outcome ?? null];
}

const signed = (secret, text, event, delivery) => ({
  "X-GitHub-Event": event,
  "X-GitHub-Delivery": delivery,
  "X-Hub-Signature-256": `sha256=${createHmac("sha256", secret).update(text).digest("hex")}`,
});

/** Opens the dialog for a new hook, with its name and channel filled in. */
async function begin(page, kind, name) {
  await page.getByRole("button", { name: "New hook" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("radio", { name: kind }).check();
  await dialog.getByLabel("Name", { exact: true }).fill(name);
  await dialog.getByLabel("Channel", { exact: true }).fill("general");
  return dialog;
}

/** The rows of the list of requests, without the times, newest first. */
async function requests(page) {
  const rows = await page.getByRole("region", { name: "Requests", exact: true }).getByRole("row").all();
  return Promise.all(rows.slice(1).map(async (row) => (await row.getByRole("cell").allInnerTexts()).slice(1).map((text) => text.trim())));
}

/** A service that cannot sign posts to a URL, which the page shows once. */
export async function urlHook({ hub, watcher }) {
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/settings/hooks`);
  await page.getByText("No hooks yet").waitFor();
  await watcher.checkAccess(page, "no hooks");
  const dialog = await begin(page, "Secret URL", "Deploys");
  await dialog.getByRole("figure", { name: "Preview" }).getByText("Deployment finished").waitFor();
  equal(await dialog.getByLabel("Events").count(), 0, "whether this kind has events");
  await dialog.getByRole("button", { name: "Create hook" }).click();
  const url = await dialog.getByRole("textbox", { name: "URL", exact: true }).innerText();
  await watcher.checkAccess(page, "the URL of a new hook");
  // Only its own button closes it.
  await page.keyboard.press("Escape");
  await dialog.getByRole("button", { name: "I have saved it" }).click();
  await page.getByText("No requests yet").waitFor();
  equal((await page.content()).includes(url.split("/").at(-1)), false, "whether the secret is still in the page");

  equal(await post(url, JSON.stringify({ text: "Version 2 is live" })), [200, "posted"], "the answer to a message");
  equal(await post(url.slice(0, -4) + "aaaa", JSON.stringify({ text: "forged" })), [401, null], "the answer to a wrong secret");
  await page.getByText("The signature or the secret is missing or wrong.").waitFor();
  await page.getByRole("link", { name: "Open message" }).waitFor();
  equal(await requests(page), [
    ["Refused", "401", "none", "none", "The signature or the secret is missing or wrong."],
    ["Posted", "200", "none", "none", "Open message"],
  ], "the requests");
  await watcher.checkAccess(page, "the requests of a hook");
  await page.getByRole("link", { name: "Open message" }).click();
  await article(page, "Version 2 is live").waitFor();
  equal(await article(page, "forged").count(), 0, "messages without the secret");
  await page.goBack();
  await page.getByRole("link", { name: "Search messages" }).click();
  await page.getByText("1 message", { exact: true }).waitFor();
  await article(page, "Version 2 is live").waitFor();

  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 360, height: 740 });
  for (const path of ["/settings/hooks", `/settings/hooks?hook=${url.split("/").at(-2)}`]) {
    await page.goto(hub.url + path);
    await page.getByText("Deploys").first().waitFor();
    equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, `whether ${path} fits a phone`);
    await watcher.checkAccess(page, `${path} on a phone, dark`);
  }
}

/** If the hub does not answer, the page says so, and retries when the person wants it. Everything works with the keyboard. */
export async function hooksByKeyboard({ hub, watcher }) {
  await hub.admin.call("POST", "/api/hooks", { name: "Monitor", kind: "standard", target: { channel: "general" } });
  const page = await watcher.page(await watcher.window(hub.admin));
  watcher.allow(/status of 403/);
  await page.route("**/api/hooks?*", (route) => route.fulfill({ status: 403, json: { code: "forbidden", detail: "Not today." } }));
  await page.goto(`${hub.url}/settings/hooks`);
  await page.getByRole("alert").getByText("Not today.").waitFor();
  await watcher.checkAccess(page, "hooks that cannot be loaded");
  await page.unroute("**/api/hooks?*");
  await page.getByRole("button", { name: "Retry" }).press("Enter");
  await page.getByRole("link", { name: "Monitor" }).press("Enter");
  await page.getByText("No requests yet").waitFor();
  // The link is no longer in the page. The next step of the keyboard is the first link of the hook.
  await page.keyboard.press("Tab");
  equal(await page.evaluate(() => document.activeElement.textContent), "All hooks", "where the keyboard is in a hook");
  await page.getByRole("button", { name: "Edit" }).press("Enter");
  const name = page.getByRole("dialog").getByLabel("Name", { exact: true });
  await name.fill("Watch");
  await name.press("Enter");
  await page.getByRole("heading", { name: "Watch" }).waitFor();
  await until("the focus is back", () => page.evaluate(() => document.activeElement.textContent === "Edit"));
  await page.getByRole("link", { name: "All hooks" }).press("Enter");
  await page.getByRole("link", { name: "Watch" }).waitFor();
  await page.keyboard.press("Tab");
  equal(await page.evaluate(() => document.activeElement.textContent), "New hook", "where the keyboard is in the list");
}

/** GitHub signs its requests. The page says what to enter there, and why the hub refused a request. */
export async function githubHook({ hub, watcher }) {
  await hub.agent("scout");
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/settings/hooks`);
  const dialog = await begin(page, "GitHub", "Octo");
  await dialog.getByLabel("Events").fill("issues.opened, p!sh");
  await dialog.getByLabel("Template").fill("New: ");
  await dialog.getByRole("button", { name: "body.issue.title" }).click();
  await dialog.getByLabel("Template").press("End");
  await page.keyboard.type(" {{nothing}}");
  const preview = dialog.getByRole("figure", { name: "Preview" });
  await preview.getByText("Names get lost").waitFor();
  await preview.getByText("The example has no value for nothing.").waitFor();
  await watcher.checkAccess(page, "the form of a hook");
  // The browser notes a refusal in its console.
  watcher.allow(/status of 422/);
  await dialog.getByRole("button", { name: "Create hook" }).click();
  await dialog.getByText(/^p!sh must be an event/).waitFor();
  await dialog.getByLabel("Events").fill("issues.opened, push");
  await dialog.getByRole("button", { name: "Create hook" }).click();
  const secret = await dialog.getByRole("textbox", { name: "Secret", exact: true }).innerText();
  const url = await dialog.locator("figure", { hasText: "Payload URL" }).locator("code").innerText();
  await dialog.getByText("Let me select individual events: issues, push").waitFor();
  await watcher.checkAccess(page, "what to enter on GitHub");
  await dialog.getByRole("button", { name: "I have saved it" }).click();
  await page.getByText("No requests yet").waitFor();

  const issue = (title) => JSON.stringify({ action: "opened", issue: { title } });
  const first = issue("It leaks");
  equal(await post(url, first, signed(secret, first, "issues", "d-1")), [200, "posted"], "a signed request");
  equal(await post(url, first, signed(secret, first, "issues", "d-1")), [200, "duplicate"], "the same request");
  equal(await post(url, "{}", signed(secret, "{}", "star", "d-2")), [200, "ignored"], "another event");
  equal(await post(url, issue("forged"), signed("a wrong secret", issue("forged"), "issues", "d-3")), [401, null], "a wrong signature");
  await until("all four requests are listed", async () => (await requests(page)).length === 4);
  await page.getByRole("link", { name: "Open message" }).waitFor();
  equal(await requests(page), [
    ["Refused", "401", "none", "none", "The signature or the secret is missing or wrong."],
    ["Ignored", "200", "star", "d-2", "The event is not in the list of events."],
    ["Duplicate", "200", "issues", "d-1", "The hub received the same request before."],
    ["Posted", "200", "issues", "d-1", "Open message"],
  ], "the requests");

  // Invisible characters of the other service are visible, and its texts are no HTML.
  const hostile = "d\u00e9\u00ad<b>";
  equal(await post(url, "{}", { ...signed(secret, "{}", "push", "x"), "X-GitHub-Event": "<b>push" }), [200, "ignored"], "a strange event");
  await page.getByRole("region", { name: "Requests", exact: true }).getByText("<b>push").waitFor();
  await hub.admin.call("PATCH", `/api/hooks/${url.split("/").at(-1)}`, { template: hostile });
  await page.reload();
  await page.locator(".sign", { hasText: "U+00AD" }).waitFor();
  equal(await page.locator("dd b").count(), 0, "elements that a template made");

  await page.getByRole("button", { name: "Edit" }).click();
  await dialog.getByRole("radio", { name: "an agent" }).check();
  await dialog.getByLabel("Agent", { exact: true }).fill("scout");
  await dialog.getByLabel("Template").fill("");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("main").getByRole("link", { name: "@scout" }).waitFor();

  await page.getByRole("button", { name: "Replace secret" }).click();
  await watcher.checkAccess(page, "replacing a secret");
  await dialog.getByRole("button", { name: "Replace secret" }).click();
  const fresh = await dialog.getByRole("textbox", { name: "Secret", exact: true }).innerText();
  await dialog.getByRole("button", { name: "I have saved it" }).click();
  const second = issue("It still leaks");
  equal(await post(url, second, signed(secret, second, "issues", "d-4")), [401, null], "the secret from before");
  equal(await post(url, second, signed(fresh, second, "issues", "d-4")), [200, "posted"], "the new secret");
  await until("there are two messages", async () => (await page.getByRole("link", { name: "Open message" }).count()) === 2);
  await page.getByRole("link", { name: "Open message" }).first().click();
  await article(page, "It still leaks").waitFor();
  await page.goBack();

  await page.getByRole("switch", { name: "Enabled", checked: true }).click();
  await page.getByRole("switch", { name: "Enabled", checked: false }).waitFor();
  const third = issue("Is anybody there?");
  equal(await post(url, third, signed(fresh, third, "issues", "d-5")), [409, null], "a disabled hook");
  await page.getByText("The hook or its owner is disabled.").waitFor();

  await page.getByRole("button", { name: "Delete" }).click();
  // The page may ask for the requests in the moment in which the hook is deleted.
  watcher.allow(/status of 404/);
  await dialog.getByRole("button", { name: "Delete hook" }).click();
  await page.getByText("No hooks yet").waitFor();
  equal(new URL(page.url()).search, "", "the address after deleting");
  equal(await post(url, third, signed(fresh, third, "issues", "d-6")), [404, null], "a deleted hook");
  await page.goto(`${hub.url}/settings/hooks?hook=${url.split("/").at(-1)}`);
  await page.getByText("Hook not found").waitFor();
}
