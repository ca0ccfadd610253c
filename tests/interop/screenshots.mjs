// Pictures of every page: node screenshots.mjs BINARY FOLDER
//
// scripts/screenshots says how to call it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Hub, Watcher, launch, until } from "./journeys/frame.mjs";
import { LOCAL_RECEIVERS, Receiver } from "./journeys/receiver.mjs";
import { enliven } from "./lively.mjs";

const [binary, folder] = process.argv.slice(2);
const ONLY = (process.env.ONLY ?? "").split(",").filter(Boolean);
const ALL_LOOKS = [
  { name: "light", colorScheme: "light", viewport: { width: 1440, height: 900 } },
  { name: "dark", colorScheme: "dark", viewport: { width: 1440, height: 900 } },
  { name: "phone", colorScheme: "light", viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
  { name: "zoom", colorScheme: "dark", viewport: { width: 640, height: 450 }, deviceScaleFactor: 2 },
  { name: "forced", colorScheme: "light", forcedColors: "active", viewport: { width: 1440, height: 900 } },
];
const LOOKS = ALL_LOOKS.filter(({ name }) => !process.env.LOOK || process.env.LOOK.split(",").includes(name));

const press = (...keys) => async (page) => {
  for (const key of keys) await page.keyboard.press(key);
  await page.getByRole("dialog").waitFor();
};

const opens = (find) => async (page) => {
  await find(page).click();
  await page.getByRole("dialog").waitFor();
};

/** What is taken: a name, an address, and what is done there before. */
function shotsOf({ question, imports, delivery, run }) {
  const tabs = (path, names) => names.map((tab) => [`${path.slice(1).replaceAll("/", "-")}-${tab}`, `${path}?tab=${tab}`]);
  return [
    ["inbox", "/inbox"],
    ["threads", "/threads"],
    ["channels", "/channels"],
    ["channel", "/channels/release-notes"],
    ["channel-thread", `/channels/release-notes?thread=${question.id}`],
    ["channel-at", `/channels/release-notes?at=${imports.id}`],
    ["channel-general", "/channels/general"],
    ["channel-empty", "/channels/leads"],
    ["channel-board", "/channels/release-notes/board"],
    ["channel-settings", "/channels/release-notes/settings"],
    ["board", "/board"],
    ["search", "/search?q=import"],
    ["search-empty", "/search"],
    ["attachments", "/attachments"],
    ["dm", "/dm/scribe"],
    ["dm-of-agents", "/dm/herald?as=scribe"],
    ["agents", "/agents"],
    ...tabs("/agents/scout", ["overview", "runs", "instructions", "keys", "webhooks", "conversations", "connect"]),
    ["agent-paused", "/agents/auditor"],
    ["person", "/people/mira"],
    ["card", "/channels/release-notes", opens((page) => page.getByRole("article").last().locator("button[data-profile]"))],
    ["members", "/channels/release-notes", opens((page) => page.getByRole("button", { name: /^\d+ members?$/ }))],
    ["invite", "/admin", opens((page) => page.getByRole("button", { name: "Invite person" }))],
    ["welcome", "/welcome"],
    ["welcome-connect", "/welcome?agent=scout&step=connect"],
    ["operate", "/operate"],
    ["traces", "/traces"],
    ["runs", "/runs"],
    ["run", `/runs/${run}`],
    ["automation", "/automation"],
    ["deliveries", "/deliveries"],
    ["delivery", `/deliveries?peek=${delivery.id}`],
    ...tabs("/admin", ["users", "audit", "clients", "machines", "system"]),
    ...["profile", "keys", "apps", "hooks", "notifications", "appearance"].map((part) => [`settings-${part}`, `/settings/${part}`]),
    ["not-found", "/nowhere/at/all"],
    ["palette", "/inbox", press("Control+k")],
    ["shortcuts", "/inbox", press("?")],
  ];
}

/** Two webhooks, one of which does well, and the latest delivery. */
async function callOut({ admin }, receiver) {
  const events = ["message.received", "message.mentioned", "channel.message"];
  const register = (url) => admin.call("POST", "/api/webhooks", { agent: "scout", url, events });
  const refused = (await register(`${receiver.url}/old`)).webhook.id;
  receiver.status = 410;
  await admin.dm("scout", "Look at the import alerts.");
  await until("it is refused", async () => (await admin.call("GET", `/api/webhooks/${refused}`)).disabled_reason === "gone");
  receiver.status = 200;
  const { id } = (await register(receiver.url)).webhook;
  for (const text of ["Which customers wait?", "Who has answered?", "Ask three of them."]) await admin.dm("scout", text);
  await admin.call("POST", `/api/webhooks/${id}/test`);
  const sent = () => admin.call("GET", `/api/webhooks/${id}/deliveries?status=delivered`);
  await until("all have arrived", async () => (await sent()).items.length === 4);
  receiver.status = 503;
  await admin.dm("scout", "And who is left?");
  await until("one fails", () => receiver.requests.length > 5);
  return (await admin.call("GET", `/api/webhooks/${id}/deliveries`)).items[0];
}

/** A run of a command, and its number. */
async function runOnce({ admin }) {
  const harness = { backend: "subprocess", command: ["sh", "-c", 'echo "The prompt has $(wc -w) words."'] };
  await admin.call("POST", "/api/agents", { name: "counter", trigger_mode: "reactive", harness });
  const sent = await admin.dm("counter", "How long is this?");
  const run = sent.delivery[0].run_id;
  await until("the run is over", async () => (await admin.call("GET", `/api/runs/${run}`)).run.finished_at !== null);
  return run;
}

/** Routes of the page that none of the pictures show. */
function routesWithout(shots) {
  const source = readFileSync(new URL("../../web/src/router.ts", import.meta.url), "utf8");
  const routes = [...source.matchAll(/\bpath: "([^"]+)"/g)].map(([, path]) => path).filter((path) => path !== "/");
  const paths = shots.map(([, address]) => address.split("?")[0]);
  return routes.filter((route) => {
    const pattern = new RegExp(`${route.replaceAll(/\$\w+/g, "[^/]+")}$`);
    return !paths.some((path) => pattern.test(path) || path.startsWith(`${route}/`));
  });
}

const hub = await Hub.start(binary);
const browser = await launch();
const watcher = new Watcher(browser);
const receiver = await Receiver.start();
const remarks = [];
try {
  await hub.configure(LOCAL_RECEIVERS);
  const shots = shotsOf({ ...(await enliven(hub)), delivery: await callOut(hub, receiver), run: await runOnce(hub) });
  for (const route of routesWithout(shots)) remarks.push(`no picture shows ${route}`);
  const wanted = shots.filter(([name]) => ONLY.length === 0 || ONLY.some((part) => name.includes(part)));
  for (const { name: look, ...options } of LOOKS) {
    const context = await watcher.window(hub.admin, options);
    for (const [name, address, prepare] of wanted) {
      const page = await watcher.page(context);
      await page.goto(hub.url + address);
      await page.getByRole("heading", { level: 1 }).first().waitFor();
      await until("nothing is loading", async () => (await page.locator("[aria-busy=true]").count()) === 0);
      await prepare?.(page);
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 250)));
      if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) remarks.push(`${name} is wider than the screen, ${look}`);
      await page.screenshot({ path: join(folder, `${name}-${look}.png`) });
      if (process.env.AXE) await watcher.checkAccess(page, `${name}, ${look}`);
      await page.close();
    }
    await context.close();
  }
  if (ONLY.length === 0 || ONLY.includes("login")) {
    for (const { name: look, ...options } of LOOKS) {
      const page = await watcher.page(await watcher.window(null, options));
      await page.goto(`${hub.url}/login`);
      await page.screenshot({ path: join(folder, `login-${look}.png`) });
      await page.context().close();
    }
  }
  console.log(`${wanted.length * LOOKS.length} pictures are in ${folder}.`);
} finally {
  await browser.close();
  await hub.stop();
  receiver.stop();
}
for (const remark of [...remarks, ...new Set(watcher.faults)]) console.error(remark);
if (remarks.length || watcher.faults.length) process.exit(1);
