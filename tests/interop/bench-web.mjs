// Measures the web page in a browser: node bench-web.mjs BINARY
//
// Times on a shared machine say little, so what can be compared is compared with a page that does nothing, in turn and in the same run.
// scripts/bench-web says how to call it, docs/benchmarks.md what the figures mean.

import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { Hub, Watcher, launch, until } from "./journeys/frame.mjs";

const web = fileURLToPath(new URL("../../web/", import.meta.url));
const [binary] = process.argv.slice(2);
const LONG = 10_000;
const ONLY = (process.env.ONLY ?? "").split(",").filter(Boolean);
const results = [];

const sorted = (values) => [...values].sort((one, other) => one - other);
const quantile = (values, part) => sorted(values)[Math.min(values.length - 1, Math.floor(values.length * part))];
const median = (values) => quantile(values, 0.5);
const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const wants = (name) => ONLY.length === 0 || ONLY.includes(name);

function report(budget, limit, found, unit, note = "") {
  results.push({ budget, limit, found, unit, note, isKept: found <= limit });
}

// ---- Pages that do nothing

/** Builds the blank page with React, and serves it beside one that only scrolls. */
async function blankPages() {
  const { build } = await import(join(web, "node_modules/vite/dist/node/index.js"));
  const folder = mkdtempSync(join(tmpdir(), "stoa-blank-"));
  const input = join(web, "bench/blank.html");
  await build({
    root: join(web, "bench"),
    configFile: false,
    logLevel: "error",
    build: { outDir: folder, emptyOutDir: true, target: "es2023", modulePreload: { polyfill: false }, rolldownOptions: { input } },
  });
  const files = new Map();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name);
    files.set(path.slice(folder.length), readFileSync(path));
  }
  rmSync(folder, { recursive: true });
  const tall = "<!doctype html><style>body{margin:0}#box{height:100vh;overflow-y:auto}#tall{height:640000px}</style>";
  files.set("/scroll.html", Buffer.from(`${tall}<div id="box"><div id="tall"></div></div>`));
  const packed = new Map([...files].map(([path, bytes]) => [path, gzipSync(bytes)]));
  const server = createServer((request, response) => {
    if (request.url === "/favicon.ico") return void response.writeHead(204).end();
    const bytes = packed.get(request.url);
    if (!bytes) return void response.writeHead(404).end();
    const type = request.url.endsWith(".js") ? "text/javascript" : "text/html";
    response.writeHead(200, { "Content-Type": `${type}; charset=utf-8`, "Content-Encoding": "gzip" }).end(bytes);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

// ---- What runs in the page

/** Notes when all of what is sought is on the screen, in milliseconds since the page was asked for. */
function noteReady(sought) {
  window.ready = new Promise((resolve) => {
    const look = () => {
      if (!sought.every((one) => document.querySelector(one))) return;
      watching.disconnect();
      requestAnimationFrame(() => {
        const after = new MessageChannel();
        after.port1.onmessage = () => resolve(performance.now());
        after.port2.postMessage(0);
      });
    };
    const watching = new MutationObserver(look);
    watching.observe(document, { childList: true, subtree: true });
  });
}

/** Notes when the stream tells of a message, and when that message is on the screen. */
function noteMessages() {
  window.told = {};
  window.painted = {};
  const Real = window.EventSource;
  window.EventSource = class extends Real {
    constructor(...given) {
      super(...given);
      super.addEventListener("new_message", (event) => (window.told[JSON.parse(event.data).message_id] = performance.now()));
    }
  };
  new MutationObserver((changes) => {
    const ids = changes.flatMap(({ addedNodes }) =>
      [...addedNodes].flatMap((node) => (node instanceof Element ? [node, ...node.querySelectorAll("article")].map(({ id }) => id) : [])),
    );
    const fresh = ids.filter((id) => /^m\d+$/.test(id) && !(id.slice(1) in window.painted));
    if (fresh.length === 0) return;
    requestAnimationFrame(() => {
      const after = new MessageChannel();
      after.port1.onmessage = () => fresh.forEach((id) => (window.painted[id.slice(1)] ??= performance.now()));
      after.port2.postMessage(0);
    });
  }).observe(document, { childList: true, subtree: true });
}

/** Scrolls, so many pixels in each frame, and returns how long the frames took and how many rows there were at most. */
async function scrollThrough({ sought, step, frames, from }) {
  const box = document.querySelector(sought);
  box.scrollTop = from * box.scrollHeight;
  const next = () => new Promise((resolve) => requestAnimationFrame(resolve));
  for (let settling = 0; settling < 10; settling++) await next();
  const times = [];
  let rows = 0;
  let before = await next();
  for (let frame = 0; frame < frames; frame++) {
    box.scrollTop += step;
    const now = await next();
    times.push(now - before);
    before = now;
    rows = Math.max(rows, box.querySelectorAll("[data-index]").length);
  }
  return { times, rows };
}

// ---- What is measured

async function makeChannel(hub, agent, name) {
  await hub.admin.call("POST", "/api/channels", { name });
  await agent.call("POST", `/api/channels/${name}/join`);
}

/** From opening a window until the page in it is ready, as for somebody who follows a link into a new tab. */
async function measureReady(hub, watcher, blank) {
  const times = { page: [], blank: [] };
  const once = async (url, caller, sought) => {
    const context = await watcher.window(caller);
    const opened = Date.now();
    const page = await watcher.page(context);
    await page.addInitScript(noteReady, sought);
    await page.goto(url, { waitUntil: "commit" });
    const { asked, inPage } = await page.evaluate(async () => ({ inPage: await window.ready, asked: performance.timeOrigin }));
    await context.close();
    return { whole: asked + inPage - opened, inPage };
  };
  for (let round = -1; round < 9; round++) {
    const empty = await once(`${blank.url}/blank.html`, null, ["h1"]);
    const full = await once(`${hub.url}/channels/general`, hub.admin, ["article", "textarea"]);
    // The first time warms up the browser and the hub.
    if (round < 0) continue;
    times.blank.push(empty);
    times.page.push(full);
  }
  const both = (which) => [times.page, times.blank].map((all) => Math.round(median(all.map((one) => one[which]))));
  const [page, empty] = both("whole");
  report("ready ÷ blank React page", 3.0, page / empty, "×", `${page} / ${empty} ms, medians of 9; ${both("inPage").join(" / ")} ms of them since the page was asked for`);
}

async function measureScroll(hub, watcher, blank) {
  const page = await watcher.page(await watcher.window(hub.admin));
  const empty = await watcher.page(await watcher.window(null));
  await empty.goto(`${blank.url}/scroll.html`);
  await page.goto(`${hub.url}/channels/long`);
  const log = page.getByRole("log", { name: "Messages" });
  await log.waitFor();
  await until("the end of the channel is shown", () => log.evaluate((box) => box.scrollTop > 0 && box.scrollHeight - box.scrollTop - box.clientHeight < 5));

  // What comes before is put in above, and what one sees stays where it is.
  let shift = 0;
  for (let round = 0; round < 5; round++) {
    const mark = await log.evaluate(async (box) => {
      box.scrollTo(0, 300);
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      const top = box.getBoundingClientRect().top;
      const seen = [...box.querySelectorAll("article")].find((one) => one.getBoundingClientRect().top >= top);
      return { id: seen.id, y: seen.getBoundingClientRect().top, height: box.scrollHeight };
    });
    await until("older ones are there", async () => (await log.evaluate((box) => box.scrollHeight)) > mark.height);
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    const moved = await page.locator(`#${mark.id}`).evaluate((one, y) => Math.abs(one.getBoundingClientRect().top - y), mark.y);
    shift = Math.max(shift, Math.round(moved));
  }
  report("shift when older messages come", 0, shift, "px", "the most of 5");

  // All of them, so that the whole channel is in the list.
  const first = hub.firstOfLong;
  const started = Date.now();
  await page.evaluate(async (id) => {
    const box = document.querySelector("[role=log]");
    while (!document.getElementById(`m${id}`)) {
      box.scrollTop = box.scrollTop > 0 ? 0 : 1;
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
  }, first);
  const loaded = ((Date.now() - started) / 1000).toFixed(1);

  const runs = { page: [], blank: [] };
  let rows = 0;
  for (let run = 0; run < 3; run++) {
    const common = { step: run % 2 ? -120 : 120, frames: 240, from: 0.5 };
    const still = await empty.evaluate(scrollThrough, { ...common, sought: "#box" });
    await page.bringToFront();
    const full = await page.evaluate(scrollThrough, { ...common, sought: "[role=log]" });
    await empty.bringToFront();
    runs.blank.push(quantile(still.times, 0.95));
    runs.page.push(quantile(full.times, 0.95));
    rows = Math.max(rows, full.rows);
  }
  const [slow, plain] = [median(runs.page), median(runs.blank)];
  report("scroll of 10k: p95 frame ÷ blank", 1.2, slow / plain, "×", `${slow.toFixed(1)} / ${plain.toFixed(1)} ms, medians of 3; all loaded in ${loaded} s`);
  report("rows in the page while scrolling", 40, rows, "");
  await page.context().close();
  await empty.context().close();
}

async function measureLive(hub, watcher, scout) {
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.addInitScript(noteMessages);
  await hub.admin.call("POST", "/api/notifications/mark-read", { channel: "general" });
  await page.goto(`${hub.url}/channels/general`);
  await page.locator("article").first().waitFor();
  const first = await scout.say("general", "to warm up");
  await page.locator(`#m${first.id}`).waitFor();
  const sent = [];
  for (let at = 0; at < 120; at++) {
    sent.push(await scout.say("general", `news **${at}** of the \`day\``));
    await wait(40);
  }
  await page.locator(`#m${sent.at(-1).id}`).waitFor();
  await until("all are painted", () => page.evaluate((ids) => ids.every((id) => id in window.painted), sent.map(({ id }) => id)));
  const { told, painted, origin } = await page.evaluate(() => ({ told: window.told, painted: window.painted, origin: performance.timeOrigin }));
  const received = sent.filter(({ id }) => id in told).map(({ id }) => painted[id] - told[id]);
  const committed = sent.map(({ id, created_at }) => origin + painted[id] - Date.parse(created_at));
  const says = (times) => `p50 ${Math.round(median(times))} ms, ${times.length} messages`;
  report("told by the stream → painted, p95", 50, quantile(received, 0.95), "ms", says(received));
  report("written by the hub → painted, p95", 150, quantile(committed, 0.95), "ms", says(committed));
  await page.context().close();
}

async function measureInteraction(hub, watcher) {
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.addInitScript(() => {
    window.interactions = {};
    new PerformanceObserver((list) => {
      for (const { interactionId, duration } of list.getEntries()) {
        if (interactionId) window.interactions[interactionId] = Math.max(window.interactions[interactionId] ?? 0, duration);
      }
    }).observe({ type: "event", durationThreshold: 16, buffered: true });
  });
  await page.goto(`${hub.url}/channels/general`);
  await page.locator("article").first().waitFor();
  const open = async (name) => {
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name }).first().click();
    await page.getByRole("heading", { level: 1, name: `# ${name}` }).waitFor();
    await page.locator("article").first().waitFor();
  };
  for (let round = 0; round < 4; round++) {
    await open("long");
    await page.getByLabel("Message #long").click();
    await page.keyboard.type("a few words ");
    await page.getByRole("log").locator("article").last().getByRole("button", { name: "Message actions" }).click();
    await page.getByRole("menu").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").waitFor();
    await page.keyboard.type("gene");
    await page.keyboard.press("Escape");
    await open("general");
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Threads" }).click();
    await page.getByRole("heading", { level: 1, name: "Threads" }).waitFor();
    await open("general");
  }
  await page.getByLabel("Message #general").click();
  await wait(500);
  const { slow, count } = await page.evaluate(() => ({ slow: Object.values(window.interactions), count: performance.interactionCount ?? 0 }));
  // The browser tells only of those that took 16 ms or longer.
  const all = [...slow, ...Array.from({ length: Math.max(0, count - slow.length) }, () => 16)];
  report("interaction, p75", 200, quantile(all, 0.75), "ms", `p98 ${quantile(all, 0.98)} ms, ${all.length} clicks and keys`);
  await page.context().close();
}

async function measureSoak(hub, watcher, scout) {
  const asked = process.env.SOAK ?? "1m";
  const minutes = Number.parseFloat(asked);
  if (!(minutes > 0)) return;
  const events = Math.round(minutes * 1000);
  await makeChannel(hub, scout, "soak");
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/soak`);
  for (let at = 0; at < 60; at++) await scout.say("soak", `before ${at}`);
  await page.locator("article", { hasText: "before 59" }).waitFor();
  const session = await page.context().newCDPSession(page);
  const heap = async () => {
    for (let times = 0; times < 3; times++) await session.send("HeapProfiler.collectGarbage");
    const { usedSize } = await session.send("Runtime.getHeapUsage");
    return usedSize / 1e6;
  };
  const before = await heap();
  const started = Date.now();
  for (let at = 0; at < events; at++) {
    await scout.say("soak", `event **${at}** with \`code\` and a [link](https://example.com/${at})\n\n- one\n- two`);
    const early = started + (at * minutes * 60_000) / events - Date.now();
    if (early > 0) await wait(early);
  }
  await page.locator("article", { hasText: `event ${events - 1} with` }).waitFor();
  const after = await heap();
  const took = ((Date.now() - started) / 60_000).toFixed(1);
  report("growth of the heap in the soak", 50, Math.max(0, after - before), "MB", `${before.toFixed(1)} → ${after.toFixed(1)} MB, ${events} events in ${took} min`);
  await page.context().close();
}

// ---- All of it

const blank = await blankPages();
const hub = await Hub.start(binary);
const browser = await launch();
const watcher = new Watcher(browser);
try {
  const scout = await hub.agent("scout", "Scout");
  for (let at = 0; at < 60; at++) await scout.say("general", `a **word** ${at} with \`code\``);
  if (wants("scroll") || wants("interaction")) {
    await makeChannel(hub, scout, "long");
    const lengths = [1, 3, 12, 40];
    hub.firstOfLong = (await scout.say("long", "the first line")).id;
    let written = 1;
    const write = async () => {
      while (written < LONG) {
        const at = written++;
        await scout.say("long", `line ${at}: ${"some words of it ".repeat(lengths[at % lengths.length])}${at % 9 ? "" : "\n\n```js\nconst line = 1;\n```"}`);
      }
    };
    await Promise.all(Array.from({ length: 32 }, write));
    // What one has not read is shown from its beginning; the end is shown to somebody who has read it all.
    await hub.admin.call("POST", "/api/notifications/mark-read", { channel: "long" });
  }
  if (wants("ready")) await measureReady(hub, watcher, blank);
  if (wants("scroll")) await measureScroll(hub, watcher, blank);
  if (wants("live")) await measureLive(hub, watcher, scout);
  if (wants("interaction")) await measureInteraction(hub, watcher);
  if (wants("soak")) await measureSoak(hub, watcher, scout);
} finally {
  await browser.close();
  await hub.stop();
  blank.close();
}

const shown = results.map(({ budget, limit, found, unit, note, isKept }) => [
  budget,
  `${Number.isInteger(found) ? found : found.toFixed(found < 10 ? 2 : 1)} ${unit}`.trim(),
  `≤ ${limit} ${unit}`.trim(),
  isKept ? "kept" : "BROKEN",
  note,
]);
const heads = ["budget", "measured", "limit", "verdict", "with"];
const widths = heads.map((head, at) => Math.max(head.length, ...shown.map((row) => row[at].length)));
const line = (cells) => `| ${cells.map((cell, at) => cell.padEnd(widths[at])).join(" | ")} |`;
console.log([line(heads), `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...shown.map(line)].join("\n"));
if (process.env.JSON) writeFileSync(process.env.JSON, `${JSON.stringify(results, null, 2)}\n`);
for (const fault of new Set(watcher.faults)) console.error(`fault: ${fault}`);
if (watcher.faults.length || results.some(({ isKept }) => !isKept)) process.exit(1);
