// Real agent programs, started by a real hub by a real message. The model is `fake_model.mjs`: what it does is the first part of its path.

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [binary, cache, ...wanted] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "stoa-agents-"));
const data = join(folder, "data");
const modules = join(cache, "node_modules");
const platform = `linux-${process.arch}`;
const children = [];

process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

/** Starts something, and waits until it prints what is sought. */
async function started(command, args, sought, options = {}) {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
  children.push(child);
  let said = "";
  return new Promise((resolve, reject) => {
    const take = (bytes) => {
      said += bytes;
      const found = sought.exec(said);
      if (found) resolve({ child, found });
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.on("exit", (code) => reject(new Error(`${command} ended with ${code}: ${said}`)));
  });
}

const model = await started(process.execPath, [join(dirname(fileURLToPath(import.meta.url)), "fake_model.mjs")], /listening (\d+)/);
const modelUrl = `http://127.0.0.1:${model.found[1]}`;
const hub = await started(binary, ["serve", "--data", data, "--listen", "127.0.0.1:0", "--log-level", "info", "--run-readable", `${modules}:${process.execPath}`], /(http:\/\/127\.0\.0\.1:\d+)/);
const url = hub.found[1];
const admin = (args, input = "") => execFileSync(binary, ["admin", "--data", data, ...args], { input, encoding: "utf8" });
admin(["users", "passwd", "admin"], "a password for this check\n");

const login = await fetch(`${url}/auth/login`, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ username: "admin", password: "a password for this check" }),
});
const cookie = login.headers.getSetCookie().map((one) => one.split(";")[0]).join("; ");

async function call(method, path, body) {
  const answer = await fetch(url + path, { method, headers: { cookie, "Content-Type": "application/json" }, body: body && JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text ? JSON.parse(text) : undefined;
}

/** How each program is started with this model. The address of a model is no variable that an owner may set, so it is part of the command. */
const PROGRAMS = {
  "claude-code": {
    key: "ANTHROPIC_API_KEY",
    model: "claude-opus-5-5",
    command: (base) => ["env", `ANTHROPIC_BASE_URL=${base}`, join(modules, `@anthropic-ai/claude-code-${platform}/claude`)],
  },
  codex: {
    key: "OPENAI_API_KEY",
    model: "gpt-5.5",
    command: (base) => {
      const provider = { name: "model", base_url: `${base}/v1`, env_key: "OPENAI_API_KEY", wire_api: "responses", request_max_retries: 1, stream_max_retries: 1 };
      const settings = Object.entries(provider).map(([name, value]) => [`model_providers.ours.${name}`, value]);
      const vendor = join(modules, `@openai/codex-${platform}/vendor`);
      return [join(vendor, readdirSync(vendor)[0], "bin/codex"), ...[["model_provider", "ours"], ...settings].flatMap(([name, value]) => ["-c", `${name}=${JSON.stringify(value)}`])];
    },
  },
  gemini: {
    key: "GEMINI_API_KEY",
    model: "gemini-3.1-pro-preview",
    command: (base) => ["env", `GOOGLE_GEMINI_BASE_URL=${base}`, process.execPath, join(modules, "@google/gemini-cli/bundle/gemini.js")],
  },
};

/** Tokens read, of these from the cache, and written. */
const ONE_CALL = { "claude-code": [2700, 1900, 55], codex: [3900, 2700, 89], gemini: [2700, 1900, 65] };
const NO_CALL = { "claude-code": [1200, 800, 34], codex: [1200, 800, 34], gemini: [1200, 800, 39] };
const ANSWER = "Done: I wrote to admin.";

const succeeds = (tokens, first) => ({ status: "succeeded", reason: null, tokens, first });
const fails = (reason) => ({ status: "failed", reason });

/** For how long the model is overloaded: longer than the programs themselves try. */
const OVERLOADED_MS = 75_000;

/** Has a program look for the hub where it is not. It is started when the hub has written the program's settings. */
const WITHOUT_HUB = `for file in .claude/stoa-mcp.json .codex/config.toml .gemini/settings.json; do
  if [ -e "$HOME/$file" ]; then sed -i 's|${url}/mcp|http://127.0.0.1:9/mcp|' "$HOME/$file"; fi
done
exec "$@"`;

/** What the model does, what the owner has set, and what shall come of it for each program. */
const CASES = [
  { name: "tool", scenario: "ok", expect: (program) => succeeds(ONE_CALL[program], `hello from ${program.split("-")[0]}`) },
  { name: "text", scenario: "text", expect: (program) => succeeds(NO_CALL[program], ANSWER) },
  { name: "long", scenario: "big", expect: (program) => succeeds(NO_CALL[program], "word0 word1") },
  { name: "failed tool", scenario: "toolfail", expect: (program) => succeeds(ONE_CALL[program], ANSWER) },
  { name: "wrong key", scenario: "e401", expect: () => fails("model_error") },
  { name: "rate limit", scenario: "e429", expect: () => ({ status: "deferred", reason: "model_unavailable" }) },
  { name: "overload", scenario: "e529", expect: () => ({ status: "deferred", reason: "model_unavailable" }) },
  // Claude Code and Codex keep to themselves what the provider says, so the hub waits for as long as it thinks fit, perhaps twice.
  { name: "overload that ends", scenario: () => `until${Date.now() + OVERLOADED_MS}`, resets: true, expect: (program) => succeeds(ONE_CALL[program], `hello from ${program.split("-")[0]}`) },
  { name: "no hub", scenario: "ok", wrapper: ["sh", "-c", WITHOUT_HUB, "sh"], expect: () => fails("hub_unreachable") },
  { name: "cut stream", scenario: "cut", expect: () => fails("model_error") },
  { name: "turns", scenario: "loop", harness: { max_turns: 3 }, without: ["codex"], expect: () => fails("turn_limit") },
  { name: "cost", scenario: "loop", harness: { max_cost_usd: 0.01 }, without: ["codex", "gemini"], expect: () => fails("cost_limit") },
  { name: "time", scenario: "slow", harness: { timeout_seconds: 8 }, expect: () => ({ status: "timed_out", reason: "timeout" }) },
  { name: "cancel", scenario: "slow", cancels: true, expect: () => ({ status: "cancelled", reason: "by_owner" }) },
  // A second run of the session counts only its own tokens.
  {
    name: "session",
    scenario: "ok",
    harness: { resume: true },
    without: ["gemini"],
    messages: 2,
    expect: (program, which) => succeeds(which === 1 && program === "codex" ? [2700, 1900, 55] : ONE_CALL[program], `hello from ${program.split("-")[0]}`),
  },
];

async function ended(agent, message) {
  for (;;) {
    const { items } = await call("GET", `/api/runs?agent=${agent}&limit=1`);
    const run = items.find(({ trigger_message_id: id }) => id === message);
    if (run && !["queued", "running"].includes(run.status)) return call("GET", `/api/runs/${run.id}?steps=true`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Follows a run through an outage to its end. Returns what is wrong with the waiting. */
async function resumed(program, run, until) {
  const faults = [];
  for (;;) {
    const { run: now, trigger_message: message } = await call("GET", `/api/runs/${run}`);
    if (now.status === "deferred") {
      const late = Date.parse(now.deferred_until) - until;
      if (program === "gemini" && Math.abs(late) > 2500) faults[0] = `it waits until ${now.deferred_until}, ${late} ms after the end`;
      if (message.reactions?.some(({ reaction }) => reaction === "reject")) faults[1] = "an outage is no failure";
    }
    if (now.finished_at) return Object.values(faults);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Cancels a run as soon as its program works. */
async function cancelled(run) {
  for (;;) {
    const { run: now, steps } = await call("GET", `/api/runs/${run}?steps=true`);
    // Not all of them say that they have begun to work.
    const isLate = Date.now() - Date.parse(now.started_at ?? now.created_at) > 8000;
    if (now.status === "running" && (isLate || steps.some(({ kind }) => kind === "turn"))) break;
    if (now.finished_at) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await call("POST", `/api/runs/${run}/cancel`);
}

function check(expected, { run, harness_run: harness, outgoing_message: first, steps }) {
  const faults = [];
  const same = (what, is, should) => JSON.stringify(is) === JSON.stringify(should) || faults.push(`${what} is ${JSON.stringify(is)} and not ${JSON.stringify(should)}`);
  same("status", run.status, expected.status);
  same("reason", run.reason, expected.reason);
  if (expected.tokens) {
    same("tokens", [harness.tokens_in, harness.tokens_cached, harness.tokens_out], expected.tokens);
    if (!first?.body.startsWith(expected.first)) faults.push(`the first message is ${first?.body}`);
    if (first && first.run_id !== run.id) faults.push("the first message does not name the run");
    if (!harness.session_id || !harness.model || !(harness.cost_usd > 0)) faults.push(`session, model or cost is missing: ${harness.session_id} ${harness.model} ${harness.cost_usd}`);
    if (!steps.some(({ kind }) => kind === "text")) faults.push("there is no step with text");
  }
  return faults;
}

let failed = 0;
for (const { name, scenario: given, harness, without = [], messages = 1, cancels = false, resets = false, wrapper = [], expect } of CASES) {
  for (const [program, { key, model: named, command }] of Object.entries(PROGRAMS)) {
    const title = `${program}: ${name}`;
    if (without.includes(program) || (wanted.length > 0 && !wanted.some((one) => title.includes(one)))) continue;
    const agent = title.replace(/[^a-z]+/g, "_");
    const scenario = typeof given === "function" ? given() : given;
    const settings = { backend: "subprocess", adapter: program, model: named, command: [...wrapper, ...command(`${modelUrl}/s/${scenario}`)], ...harness };
    await call("POST", "/api/agents", { name: agent, trigger_mode: "reactive", cooldown_seconds: 0, harness: settings, instructions: "Be brief." });
    admin(["secrets", "set", key, "--scope", `agent:${agent}`], "a key that no provider knows");
    for (let which = 0; which < messages; which++) {
      const { id, delivery } = await call("POST", "/api/messages", { to: agent, body: "Say hello to admin." });
      if (cancels) await cancelled(delivery[0].run_id);
      const waiting = resets ? await resumed(program, delivery[0].run_id, Number(scenario.slice("until".length))) : [];
      const details = await ended(agent, id);
      const faults = [...waiting, ...check(expect(program, which), details)];
      if (process.env.RECORD) writeFileSync(join(process.env.RECORD, `${agent}-${which}.jsonl`), details.harness_run.logs_excerpt ?? "");
      console.log(faults.length ? `FAILED  ${title}: ${faults.join("; ")}\n${details.harness_run.error_log}` : `ok  ${title}`);
      failed += faults.length > 0;
      // Else it would start again in the middle of the others.
      if (details.run.status === "deferred") await call("POST", `/api/runs/${details.run.id}/cancel`);
    }
  }
}
const versions = JSON.parse(readFileSync(join(cache, "package.json"), "utf8")).dependencies;
console.log(failed ? `${failed} failed` : `all passed with ${Object.entries(versions).map((one) => one.join(" ")).join(", ")}`);
process.exit(failed ? 1 : 0);
