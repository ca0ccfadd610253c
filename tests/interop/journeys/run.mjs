// Journeys through the web page in a real browser, on a real hub: node run.mjs BINARY [NAME…]
//
// Each has a hub of its own. It fails on any error in the console, any breach of the page's policy, any request that fails and any
// barrier that axe finds, whatever else it is about.

import { readdirSync } from "node:fs";
import { Hub, Watcher, launch } from "./frame.mjs";

const [binary, ...wanted] = process.argv.slice(2);
const AT_ONCE = 2;
/** A journey that takes longer waits for what will never come. */
const LONGEST_MS = 240_000;
/** So many that failed may try again alone, where the machine has time for them: it may be that of somebody's laptop. */
const MOST_REPEATED = 10;

const journeys = [];
for (const file of readdirSync(new URL(".", import.meta.url)).filter((name) => name.endsWith(".journey.mjs")).sort()) {
  const found = await import(`./${file}`);
  journeys.push(...Object.entries(found).map(([name, run]) => ({ name, run })));
}
const chosen = journeys.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
if (chosen.length === 0) {
  console.error(`There is no such journey; there are ${journeys.map(({ name }) => name).join(", ")}.`);
  process.exit(2);
}

const browser = await launch();
const failures = [];
async function travel({ name, run }) {
  const watcher = new Watcher(browser);
  const hub = await Hub.start(binary);
  try {
    let timer;
    const tooLong = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`it was not over after ${LONGEST_MS / 1000} s`)), LONGEST_MS);
    });
    await Promise.race([run({ hub, watcher }), tooLong]).finally(() => clearTimeout(timer));
  } catch (error) {
    watcher.faults.push(error.stack ?? String(error));
    for (const context of browser.contexts()) {
      for (const page of context.pages()) {
        if (page.url().startsWith(hub.url)) watcher.faults.push(`at ${page.url()}: ${(await page.locator("body").innerText().catch(() => "")).slice(0, 800)}`);
      }
    }
  }
  for (const context of browser.contexts()) {
    if (context.pages().some((page) => page.url().startsWith(hub.url))) await context.close();
  }
  await hub.stop().catch((error) => watcher.faults.push(String(error)));
  console.log(`${watcher.faults.length ? "FAILED" : "ok"}  ${name}`);
  if (watcher.faults.length) failures.push({ name, run, said: `${name}:\n  ${watcher.faults.join("\n  ")}` });
}

const queue = [...chosen];
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let next = queue.shift(); next; next = queue.shift()) await travel(next);
  }),
);
if (failures.length && failures.length <= MOST_REPEATED) {
  for (const journey of failures.splice(0)) {
    console.error(`${journey.said}\n\n${journey.name} tries again, alone:`);
    await travel(journey);
  }
}
await browser.close();
if (failures.length) {
  console.error(failures.map(({ said }) => said).join("\n\n"));
  process.exit(1);
}
