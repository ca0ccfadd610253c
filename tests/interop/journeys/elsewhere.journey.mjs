// Agents that run elsewhere: the hub calls them, and their answers are the replies.

import { equal, until } from "./frame.mjs";
import { LOCAL_RECEIVERS, Receiver, signaturesBy } from "./receiver.mjs";

const article = (page, text) => page.locator("article", { hasText: text });
const secretOf = (page) => page.getByRole("textbox", { name: "Signing secret" }).textContent();

/** Sends a direct message on the page and waits for the request that it leads to. */
async function write(page, receiver, text) {
  const before = receiver.requests.length;
  await page.getByLabel(/^Message @courier/).fill(text);
  await page.keyboard.press("Enter");
  await until(`the request for “${text}”`, () => receiver.requests.length > before);
  return receiver.requests.at(-1);
}

async function withReceiver(hub, run) {
  await hub.configure(LOCAL_RECEIVERS);
  await hub.agent("courier", "Courier");
  await hub.admin.call("PATCH", "/api/agents/courier", { cooldown_seconds: 0 });
  const receiver = await Receiver.start();
  receiver.answer = JSON.stringify({ response: "The parcel is **here**.", tokens_in: 12, tokens_out: 3 });
  try {
    await run(receiver);
  } finally {
    receiver.stop();
  }
}

/** An agent gets an address and a secret on its page. It answers at once, and later with the token of the run. */
export async function webhookAgent({ hub, watcher }) {
  watcher.allow(/422/);
  await withReceiver(hub, async (receiver) => {
    const page = await watcher.page(await watcher.window(hub.admin));
    await page.goto(`${hub.url}/agents/courier?tab=runs`);
    await page.getByRole("radio", { name: "Webhook" }).check();
    const save = page.getByRole("button", { name: "Save changes" });
    const address = page.getByLabel("Address");
    await save.click();
    await page.getByRole("alert").getByText("Enter an address.").waitFor();
    await address.fill("http://agents.example.com/run");
    await save.click();
    await page.getByRole("alert").getByText("Must be an https address.").waitFor();
    equal(await address.evaluate((field) => field === document.activeElement), true, "whether the focus is at the address");
    await watcher.checkAccess(page, "an address that is refused");
    await address.fill(receiver.url);
    await save.click();
    await page.getByText("All changes saved.").waitFor();
    await page.getByText("A message calls its webhook, and the answer is the reply.").waitFor();
    const { trigger_mode, harness } = await hub.admin.call("GET", "/api/agents/courier");
    equal([trigger_mode, harness.backend, harness.url], ["reactive", "webhook", receiver.url], "what is stored");

    await page.getByRole("button", { name: "Create signing secret" }).click();
    await page.getByText("An older one no longer works.").waitFor();
    const first = await secretOf(page);
    await page.getByText("What the hub sends").click();
    await page.getByText("HTTP/1.1 202 Accepted").waitFor();
    await watcher.checkAccess(page, "the settings of a webhook");

    await page.getByRole("link", { name: "Message", exact: true }).click();
    await page.getByText(`Runs at ${new URL(receiver.url).host}`).waitFor();
    const request = await write(page, receiver, "Where is the parcel?");
    await article(page, "The parcel is here.").waitFor();
    equal([request.body.type, signaturesBy(first, request)], ["run.requested", 1], "the request and its signatures by the secret");
    const asked = article(page, "Where is the parcel?").first();
    await asked.getByText(/Done/).waitFor();
    await asked.getByRole("link", { name: "Run 1" }).click();
    await page.getByRole("heading", { name: "Finished" }).waitFor();
    await page.locator("strong", { hasText: "here" }).first().waitFor();
    await page.getByRole("complementary", { name: "Facts" }).getByText("a webhook").waitFor();
    await watcher.checkAccess(page, "a run elsewhere");

    // The secret is not shown again. Replacing it saves nothing else of the form.
    await page.goto(`${hub.url}/agents/courier?tab=runs`);
    await page.getByLabel("Time limit, in seconds").fill("60");
    equal(await page.getByText(first).count(), 0, "whether the secret is still shown");
    await page.getByRole("button", { name: "Replace signing secret" }).click();
    await watcher.checkAccess(page, "the question before a secret is replaced");
    await page.getByRole("dialog").getByRole("button", { name: "Replace secret" }).click();
    await page.getByText("An older one no longer works.").waitFor();
    await page.getByText("Unsaved: Time limit.").waitFor();
    const second = await secretOf(page);
    await page.setViewportSize({ width: 360, height: 740 });
    equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, "whether the card fits a phone");
    await watcher.checkAccess(page, "the settings of a webhook on a phone");
    await page.setViewportSize({ width: 1280, height: 800 });

    // The receiver takes the next run on, and sends its result later.
    Object.assign(receiver, { status: 202, answer: "" });
    await page.goto(`${hub.url}/dm/courier`);
    const later = await write(page, receiver, "And the letter?");
    equal([first, second].map((secret) => signaturesBy(secret, later)), [0, 1], "signatures by the old and the new secret");
    await article(page, "And the letter?").first().getByText(/Working/).waitFor();
    const { token, result_url } = later.body.data;
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const sent = await fetch(result_url, { method: "POST", headers, body: JSON.stringify({ response: "It is on its way." }) });
    equal(sent.ok, true, "whether the result was taken");
    await article(page, "It is on its way.").waitFor();
  });
}

/** The same in the first steps, on a phone. */
export async function webhookAgentInWelcome({ hub, watcher }) {
  await withReceiver(hub, async (receiver) => {
    const page = await watcher.page(await watcher.window(hub.admin, { viewport: { width: 360, height: 740 } }));
    await page.goto(`${hub.url}/welcome?agent=courier`);
    await page.getByRole("radio", { name: "Stoa starts the agent" }).check();
    await page.getByRole("radio", { name: "Webhook" }).check();
    await page.getByLabel("Address").fill(receiver.url);
    await page.getByRole("button", { name: "Save address" }).click();
    await page.getByText("Saved. A message from you now calls this address.").waitFor();
    await page.getByText("What the hub sends").click();
    await watcher.checkAccess(page, "a webhook in the first steps");
    equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, "whether the webhook fits a phone");
    await page.getByRole("button", { name: "Continue to first message" }).click();
    await page.getByLabel("Message @courier").press("Enter");
    await article(page, "The parcel is here.").waitFor();
    await page.getByText("@courier replied. Your agent works.").waitFor();
  });
}
