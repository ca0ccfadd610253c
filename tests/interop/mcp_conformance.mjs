// The conformance suite of MCP for servers: node mcp_conformance.mjs SETTINGS SERVER
//
// Runs it for each revision and holds what does not pass against tests/interop/conformance/SERVER-REVISION.yml. Those files are
// in the suite's own form, so that it takes them by hand, too; here they must say exactly what does not pass, also where the
// suite does not mind. SETTINGS is a file of scripts/check-mcp.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readFileSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { text } from "node:stream/consumers";
import { parse } from "yaml";
import { startProxy } from "./bearer_proxy.mjs";
import { Person } from "./person.mjs";

const [settingsFile, server] = process.argv.slice(2);
const settings = JSON.parse(readFileSync(settingsFile, "utf8"));
const folder = dirname(settingsFile);
const suite = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js"));
/** What the suite is to run; it has no list of what the first of them requires. */
const REVISIONS = {
  "2025-06-18": ["--suite", "all", "--spec-version", "2025-06-18"],
  "2025-11-25": ["--requirements", "2025-11-25"],
  "2026-07-28": ["--requirements", "2026-07-28"],
};

async function makeKey() {
  const person = new Person(settings.url);
  await person.logIn(settings.username, settings.password);
  const { key } = await person.call("POST", "/api/agents", { name: "conformance" }, 201);
  for (const value of [...Object.values(person.cookies), key]) {
    appendFileSync(`${folder}/secrets`, `${value}\n`);
  }
  return key;
}

/** Runs the suite once. Returns all that it printed. */
async function run(url, wanted, results, baseline) {
  const options = ["--url", `${url}/mcp`, ...wanted, "--expected-failures", baseline, "--output-dir", results];
  const child = spawn(process.execPath, [suite, "server", ...options], {
    stdio: ["ignore", "pipe", "inherit"],
    signal: AbortSignal.timeout(120_000),
  });
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
  return { printed, code };
}

/** What did not pass: `scenario:check`, or only `scenario` where all of it is expected to fail, with what the suite says. */
function failures(results, expected) {
  const found = new Map();
  for (const name of readdirSync(results)) {
    const [, scenario] = /^server-(.+)-\d{4}-\d\d-\d\dT[-\d]+Z$/.exec(name);
    for (const { id, status, errorMessage } of JSON.parse(readFileSync(`${results}/${name}/checks.json`, "utf8"))) {
      if (!["SUCCESS", "INFO"].includes(status)) {
        found.set(expected.has(scenario) ? scenario : `${scenario}:${id}`, `${status} ${errorMessage ?? ""}`);
      }
    }
  }
  return found;
}

const proxy = await startProxy(settings.url, await makeKey());
for (const [revision, wanted] of Object.entries(REVISIONS)) {
  const name = `conformance/${server}-${revision}.yml`;
  const baseline = fileURLToPath(new URL(name, import.meta.url));
  const results = `${folder}/${server}-${revision}`;
  const { printed, code } = await run(proxy.url, wanted, results, baseline);
  const expected = new Set(parse(readFileSync(baseline, "utf8")).server);
  const found = failures(results, expected);
  const wrong = [
    ...[...found].filter(([check]) => !expected.has(check)).map(([check, reason]) => `does not pass: ${check} ${reason}`),
    ...[...expected].filter((check) => !found.has(check)).map((check) => `passes now, or is gone: ${check}`),
  ];
  if (code !== 0 && !wrong.length) {
    wrong.push(`the suite ended with ${code}:\n${printed}`);
  }
  if (wrong.length) {
    console.error(`mcp_conformance.mjs: other than tests/interop/${name} says:\n${wrong.join("\n")}`);
    process.exitCode = 1;
  }
}
proxy.close();
