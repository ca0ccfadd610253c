// Webhooks: from the first one to its recovery, and what was sent.

import { readFileSync } from "node:fs";
import { equal, until } from "./frame.mjs";
import { LOCAL_RECEIVERS, Receiver, signaturesBy } from "./receiver.mjs";

/** What a page sees while its hub is stopped for a moment. */
const HUB_IS_STOPPED = /ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|ERR_INCOMPLETE_CHUNKED_ENCODING|503/;

const dialog = (page) => page.getByRole("dialog");
const card = (page, url) => page.getByRole("region", { name: url });

/** Runs with a hub that calls receivers on this machine, an agent and a receiver. */
async function withReceiver(hub, run) {
  await hub.configure({ ...LOCAL_RECEIVERS, STOA_AGENT_WEBHOOKS: "confirm" });
  const lookout = await hub.agent("lookout", "Lookout");
  const receiver = await Receiver.start();
  try {
    await run(receiver, lookout);
  } finally {
    receiver.stop();
  }
}

async function register(hub, receiver) {
  const request = { agent: "lookout", url: receiver.url, events: ["message.received"] };
  return (await hub.admin.call("POST", "/api/webhooks", request)).webhook.id;
}

/** A webhook is added, tested, changed, refused by its receiver, enabled, paused and deleted on the page of its agent. */
export async function webhookCares({ hub, watcher }) {
  await withReceiver(hub, async (receiver, lookout) => {
    watcher.allow(/422/);
    const context = await watcher.window(hub.admin, { permissions: ["clipboard-read", "clipboard-write"] });
    const page = await watcher.page(context);
    await page.goto(`${hub.url}/agents/lookout`);
    await page.getByRole("tab", { name: "Webhooks" }).click();
    await page.getByText("No webhooks yet").waitFor();
    await page.getByRole("button", { name: "Add webhook" }).click();
    await page.getByLabel("Address").fill("ftp://nowhere.example/");
    await page.keyboard.press("Enter");
    await dialog(page).getByRole("alert").waitFor();
    await watcher.checkAccess(page, "an address that is refused");
    await page.getByLabel("Address").fill(receiver.url);
    await page.getByRole("checkbox", { name: "message.mentioned" }).uncheck();
    await dialog(page).getByRole("button", { name: "Add webhook" }).click();
    await dialog(page).getByRole("heading", { name: "Webhook secret" }).waitFor();
    await watcher.checkAccess(page, "the secret of a webhook");
    await dialog(page).getByRole("button", { name: "Copy" }).click();
    await dialog(page).getByRole("button", { name: "Copied" }).waitFor();
    const secret = await page.evaluate(() => navigator.clipboard.readText());
    await page.getByRole("button", { name: "I have saved it" }).click();
    const shown = card(page, receiver.url);
    await shown.getByText("Enabled").waitFor();
    await page.getByRole("tab", { name: "Webhooks 1" }).waitFor();
    equal(await page.getByText(secret).count(), 0, "whether the secret is still shown");

    await shown.getByRole("button", { name: "Send test" }).click();
    await shown.getByText("Test delivered").waitFor();
    await shown.getByText(/^200 OK in/).waitFor();
    equal(receiver.requests.map(({ body }) => body.type), ["webhook.ping"], "what was sent");
    equal(signaturesBy(secret, receiver.requests[0]), 1, "signatures by the secret that was copied");
    await hub.admin.dm("lookout", "What do you see?");
    await shown.getByRole("link", { name: "message.received" }).waitFor();
    await shown.getByText("1 of the last 1").waitFor();
    await watcher.checkAccess(page, "a webhook");

    await shown.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Rotate secret" }).click();
    await dialog(page).getByRole("radio", { name: "Valid for 24 more hours" }).waitFor();
    await dialog(page).getByRole("button", { name: "Rotate secret" }).click();
    await dialog(page).getByText("Stoa signs each delivery with both secrets").waitFor();
    const fresh = await dialog(page).getByRole("textbox", { name: "Secret" }).textContent();
    await page.getByRole("button", { name: "I have saved it" }).click();
    await shown.getByText(/Old secret valid until/).waitFor();
    await shown.getByRole("button", { name: "Send test" }).click();
    await until("the test has arrived", () => receiver.requests.length === 3);
    equal([secret, fresh].map((one) => signaturesBy(one, receiver.requests[2])), [1, 1], "signatures by either secret");

    // The receiver says that it is no longer there, and is not called again before its owner wants it.
    receiver.status = 410;
    await hub.admin.dm("lookout", "Are you there?");
    await shown.getByText("Refused").waitFor();
    await shown.getByText(/returned 410 Gone/).waitFor();
    await watcher.checkAccess(page, "a webhook that is refused");
    receiver.status = 204;
    await shown.getByRole("button", { name: "Enable" }).click();
    await shown.getByText("Enabled").waitFor();

    await shown.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("checkbox", { name: "channel.message" }).check();
    await dialog(page).getByRole("button", { name: "Save" }).click();
    await shown.getByRole("list", { name: "Events" }).getByText("channel.message").waitFor();
    await shown.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Pause" }).click();
    await shown.getByText("Paused").waitFor();

    await page.getByRole("button", { name: "Verify signatures" }).click();
    await dialog(page).getByRole("radio", { name: "Python" }).check();
    await dialog(page).getByRole("button", { name: "Copy" }).click();
    await dialog(page).getByRole("button", { name: "Copied" }).waitFor();
    const example = readFileSync(new URL("../../../docs/examples/verify-webhook/verify.py", import.meta.url), "utf8");
    equal(await page.evaluate(() => navigator.clipboard.readText()), example.trimEnd(), "the example that is copied");
    await watcher.checkAccess(page, "how signatures are verified");
    await page.keyboard.press("Escape");
    await page.setViewportSize({ width: 360, height: 740 });
    equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, "whether it fits a phone");
    await watcher.checkAccess(page, "a webhook on a phone");

    await shown.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await dialog(page).getByRole("button", { name: "Delete webhook" }).click();
    await page.getByText("No webhooks yet").waitFor();

    // One that the agent registers sends nothing before its owner enables it.
    await lookout.call("POST", "/api/webhooks", { agent: "lookout", url: receiver.url, events: ["message.received"] });
    await shown.getByText("Not confirmed").waitFor();
    await watcher.checkAccess(page, "a webhook that waits for its owner");
    await shown.getByRole("button", { name: "Enable" }).click();
    await shown.getByText("Enabled").waitFor();
  });
}

/**
 * A receiver fails until its webhook is disabled, events are held, and the hub's own probe, then a person's, brings the webhook back with
 * all that it missed. Fifty failures take minutes and a probe comes after five: the first 49 failures, and how long the hub waits for its
 * next try, are written into the database. All that happens then, the hub does by itself.
 */
export async function webhookRecovers({ hub, watcher }) {
  await withReceiver(hub, async (receiver) => {
    const id = await register(hub, receiver);
    const page = await watcher.page(await watcher.window(hub.admin));
    await page.goto(`${hub.url}/agents/lookout?tab=webhooks`);
    const shown = card(page, receiver.url);
    await shown.getByText("Enabled").waitFor();
    watcher.allow(HUB_IS_STOPPED);
    watcher.allow(/409/);

    /** The receiver fails, and goes on failing until this is the fiftieth. */
    const failForGood = async (text) => {
      receiver.status = 503;
      const before = receiver.requests.length;
      await hub.admin.dm("lookout", text);
      await until("it was tried twice", () => receiver.requests.length >= before + 2);
      await hub.rewrite(
        ["update webhooks set failures = 49, failing_since = coalesce(failing_since, ?)", Date.now() - 1000],
        ["update webhook_deliveries set tries = 3 where status = 'pending'"],
        ["update work set due_at = ? where queue = 'webhooks'", Date.now()],
      );
      await until("it is disabled", async () => (await hub.admin.call("GET", `/api/webhooks/${id}`)).disabled_reason === "failures");
    };

    await failForGood("one");
    await shown.getByText("Disabled").waitFor();
    await shown.getByText(/Next probe at/).waitFor();
    await hub.admin.dm("lookout", "two");
    await hub.admin.dm("lookout", "three");
    await shown.getByText(/holds 2 deliveries for up to 72 hours/).waitFor();
    await watcher.checkAccess(page, "a webhook that holds deliveries");

    // What is dead cannot be sent while the webhook is disabled, and the page says why.
    const list = await watcher.page(page.context());
    await list.goto(`${hub.url}/deliveries?webhook=${id}&status=dead`);
    await list.getByRole("region", { name: "Deliveries" }).getByRole("button", { name: "message.received" }).click();
    const pane = list.getByRole("complementary", { name: "Delivery" });
    await pane.getByRole("button", { name: "Retry now" }).click();
    await list.getByText("The webhook is disabled. Enable it first.").waitFor();
    await watcher.checkAccess(list, "a dead letter");
    await list.goto(`${hub.url}/deliveries?webhook=${id}&status=held`);
    await until("both are held", async () => (await list.getByRole("region", { name: "Deliveries" }).locator("tbody tr").count()) === 2);

    // The receiver is back. The hub finds out by itself, and sends everything, oldest first.
    receiver.status = 200;
    const down = receiver.requests.length;
    await hub.rewrite(["update work set due_at = ? where queue = 'webhook_probes'", Date.now()]);
    await until("all has arrived", () => receiver.texts(down).length === 3);
    equal(receiver.texts(down), ["one", "two", "three"], "what arrives, in its order");
    equal(receiver.requests[down].body.data.probe, true, "whether the hub asked first");
    await shown.getByText("Enabled").waitFor();
    await shown.getByText("3 of the last 3").waitFor();

    // The same once more, and a person does not wait for the probe.
    await failForGood("four");
    await hub.admin.dm("lookout", "five");
    await shown.getByText(/holds 1 delivery/).waitFor();
    receiver.status = 200;
    const again = receiver.requests.length;
    await shown.getByRole("button", { name: "Probe now" }).click();
    await shown.getByText("Test delivered").waitFor();
    await shown.getByText("Enabled").waitFor();
    await until("the rest has arrived", () => receiver.texts(again).length === 2);
    equal(receiver.texts(again), ["four", "five"], "what arrives after the probe of a person");
    await watcher.checkAccess(page, "a webhook that has recovered");

    // The hub has written about it, and leads here.
    await page.goto(`${hub.url}/dm/system`);
    await page.locator("article", { hasText: "50 deliveries failed one after another" }).first().waitFor();
    await page.getByRole("link", { name: "Open @lookout's webhooks" }).first().click();
    await shown.waitFor();
  });
}

/** Deliveries are filtered by the address, read page by page and with the keyboard, retried, and copied without a secret. */
export async function deliveries({ hub, watcher }) {
  await withReceiver(hub, async (receiver) => {
    const id = await register(hub, receiver);
    for (let at = 0; at < 55; at += 1) await hub.admin.dm("lookout", `step ${at}`);
    await until("all are sent", () => receiver.requests.length === 55);
    // A receiver on the internet may answer anything. What one on this machine answers is not kept, so it is written here.
    const hostile = `\u202e<script>alert(1)</script>\u0007${"a\u0301\u0302\u0303\u0304".repeat(150)}${"\u200b".repeat(600)}`;
    const attempts = [500, 502, 503, 503].map((status, at) => ({ at: new Date(Date.now() - 60_000 + at).toISOString(), status, duration_ms: 28, response_excerpt: hostile }));
    await hub.rewrite(
      ["update webhook_deliveries set status = 'dead', tries = 4, attempts = ? where id in (select max(id) from webhook_deliveries)", JSON.stringify(attempts)],
      ["update webhook_deliveries set created_at = created_at - 86400000 where id <= (select min(id) + 9 from webhook_deliveries)"],
    );
    const context = await watcher.window(hub.admin, { permissions: ["clipboard-read", "clipboard-write"] });
    const page = await watcher.page(context);
    await page.goto(`${hub.url}/agents/lookout?tab=webhooks`);
    await page.getByRole("link", { name: "All deliveries" }).click();
    const table = page.getByRole("region", { name: "Deliveries" });
    const rows = table.locator("tbody tr");
    await until("a page is there", async () => (await rows.count()) === 50);
    await watcher.checkAccess(page, "deliveries");
    await page.getByRole("button", { name: "Show older" }).click();
    await until("the rest is there", async () => (await rows.count()) === 55);

    await page.getByRole("group", { name: "Status" }).getByRole("button", { name: "Dead letter" }).click();
    await until("only dead letters are there", async () => (await rows.count()) === 1);
    equal(new URL(page.url()).search, `?webhook=${id}&status=dead`, "the filter in the address");
    await page.keyboard.press("Escape");
    await rows.first().getByRole("button").click();
    const pane = page.getByRole("complementary", { name: "Delivery" });
    await pane.getByText("503 Unavailable").first().waitFor();
    equal(await pane.getByRole("region", { name: "Attempts" }).getByRole("listitem").count(), 4, "attempts");
    const answer = pane.getByRole("region", { name: "Body of the last response" });
    await answer.getByText("<script>alert(1)</script>").waitFor();
    equal((await answer.locator(".sign").count()) > 0, true, "whether hidden characters are seen");
    await watcher.checkAccess(page, "the answer of a hostile receiver");
    await pane.getByRole("button", { name: /^Headers/ }).click();
    await pane.getByText("webhook-signature").waitFor();
    await pane.getByRole("button", { name: "Copy as curl" }).click();
    await pane.getByRole("button", { name: "Copied" }).waitFor();
    const command = await page.evaluate(() => navigator.clipboard.readText());
    equal([command.startsWith(`curl -X POST '${receiver.url}'`), /v1,|whsec_/.test(command), command.includes("step 54")], [true, false, true], "the command");
    equal((await pane.getByRole("link", { name: "Open message" }).getAttribute("href")).startsWith("/dm/lookout?at="), true, "the way to the message");

    const before = receiver.requests.length;
    await pane.getByRole("button", { name: "Retry now" }).click();
    await pane.getByText("Delivered").waitFor();
    equal(receiver.texts(before), ["step 54"], "what is sent again");
    await page.keyboard.press("Escape");
    await pane.waitFor({ state: "detached" });

    // Time is part of the filter, and the keyboard goes along what is filtered.
    const until_ = new Date(Date.now() - 43_200_000).toISOString();
    await page.goto(`${hub.url}/deliveries?until=${until_}`);
    await until("only yesterday's are there", async () => (await rows.count()) === 10);
    await page.keyboard.press("j");
    await pane.getByText('"step 9"').waitFor();
    await page.keyboard.press("j");
    await pane.getByText('"step 8"').waitFor();
    await page.keyboard.press("k");
    await pane.getByText('"step 9"').waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    await watcher.checkAccess(page, "a delivery on a phone");
    await page.keyboard.press("Escape");
    await pane.waitFor({ state: "detached" });
    equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, "whether it fits a phone");
    await watcher.checkAccess(page, "deliveries on a phone");

    // All that is dead is sent again at once, since a moment.
    await page.setViewportSize({ width: 1280, height: 800 });
    watcher.allow(HUB_IS_STOPPED);
    await hub.rewrite(["update webhook_deliveries set status = 'dead', tries = 4"]);
    await page.goto(`${hub.url}/deliveries?since=${until_}`);
    await page.getByRole("button", { name: "Retry all 55" }).click();
    await watcher.checkAccess(page, "retrying all");
    await dialog(page).getByRole("button", { name: "Retry all" }).click();
    await page.getByText("45 deliveries queued for retry").waitFor();

    // Nobody sees what others' agents are sent.
    const bob = await hub.person("bob");
    const other = await watcher.page(await watcher.window(bob));
    await other.goto(`${hub.url}/deliveries`);
    await other.getByText("No deliveries yet").waitFor();
    await watcher.checkAccess(other, "no deliveries");
  });
}
