// The conformance suite of MCP for authorization servers: node oauth_conformance.mjs SETTINGS
//
// Registers a client for it, runs it, and is the person that it sends to the hub. SETTINGS is a file of scripts/check-oauth.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { appendFileSync, readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Person } from "./person.mjs";

const settings = JSON.parse(readFileSync(process.argv[2], "utf8"));
const suite = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js"));
const SCENARIOS = ["authorization-server-metadata-endpoint", "authorization-code-grant"];

const secret = (value) => appendFileSync(settings.secrets, `${value}\n`);

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function register(port) {
  const answer = await fetch(`${settings.url}/oauth/register`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      client_name: "MCP conformance",
      redirect_uris: [`http://127.0.0.1:${port}/callback`],
      token_endpoint_auth_method: "none",
    }),
  });
  assert.equal(answer.status, 201);
  const client = await answer.json();
  secret(client.registration_access_token);
  return client.client_id;
}

/** Follows the link that the suite prints, without a session, to the page of the suite where it ends. */
async function consent(address) {
  const person = new Person(settings.url);
  const login = await person.open(address);
  const next = await person.submit(login, { username: settings.username, password: settings.password });
  Object.values(person.cookies).forEach(secret);
  const callback = await person.submit(await person.open(next), { agent: "self", decision: "approve" });
  secret(callback.searchParams.get("code"));
  const answer = await fetch(callback, { redirect: "error", signal: AbortSignal.timeout(20_000) });
  assert.equal(answer.status, 200);
}

/** Runs the suite once. Returns all that it printed. */
async function run(port, folder) {
  const options = ["--client-id", await register(port), "--resource", `${settings.url}/mcp`, "--port", port, "--output-dir", folder];
  const child = spawn(process.execPath, [suite, "authorization", "--url", settings.url, ...options], {
    stdio: ["ignore", "pipe", "inherit"],
    signal: AbortSignal.timeout(60_000),
  });
  const ended = new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
  ended.catch(() => {}); // is told below, when all that was printed is read
  const lines = [];
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line);
      if (line.startsWith(`${settings.url}/`)) {
        await consent(line);
      }
    }
    await ended;
  } catch (error) {
    child.kill();
    throw new Error(`the suite and the hub did not come to an end together:\n${lines.join("\n")}`, { cause: error });
  }
  return lines.join("\n");
}

/** The results of one scenario, which the suite leaves in a folder that is named after it and after the time. */
function results(folder, scenario) {
  const found = readdirSync(folder).filter((name) => name.includes(scenario));
  return found.flatMap((name) => JSON.parse(readFileSync(`${folder}/${name}/checks.json`, "utf8")));
}

let printed;
let folder;
for (let attempt = 1; attempt <= 3; attempt += 1) {
  folder = `${settings.folder}/conformance${attempt}`;
  printed = await run(await freePort(), folder);
  // Somebody else was quicker to take the port.
  if (!printed.includes("EADDRINUSE")) {
    break;
  }
}
for (const scenario of SCENARIOS) {
  const checks = results(folder, scenario);
  const bad = checks.filter(({ status }) => !["SUCCESS", "INFO"].includes(status));
  if (!checks.some(({ status }) => status === "SUCCESS") || bad.length) {
    console.error(`oauth_conformance.mjs: ${scenario}: ${JSON.stringify(bad, null, 2)}\n${printed}`);
    process.exitCode = 1;
  }
}
