// What every journey needs: a hub of its own, people and agents on it, and a browser that minds every fault.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import { chromium } from "playwright-core";

const PATIENCE = 45_000;

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A hub in a process of its own, with a folder of its own. */
export class Hub {
  static async start(binary) {
    const hub = new Hub();
    hub.binary = binary;
    hub.folder = mkdtempSync(join(tmpdir(), "stoa-journey-"));
    hub.port = await freePort();
    hub.url = `http://127.0.0.1:${hub.port}`;
    await hub.run();
    hub.password = /password:\s*(\S+)/.exec(hub.printed)[1];
    hub.admin = new Caller(hub);
    await hub.admin.call("POST", "/auth/login", { username: "admin", password: hub.password });
    return hub;
  }

  async run() {
    const options = ["serve", "--listen", `127.0.0.1:${this.port}`, "--data", this.folder];
    const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("STOA_") || name === "STOA_DEV_WEB"));
    this.printed ??= "";
    this.log = "";
    this.process = spawn(this.binary, options, {
      // In a container the socket would be one for all hubs. Programs of runs read files of the tests, which isolated ones do not see.
      env: { ...environment, STOA_RUN_ISOLATION: "none", STOA_BCRYPT_COST: "4", STOA_RATE_LIMIT: "0", STOA_ADMIN_SOCKET: join(this.folder, "admin.sock"), ...this.settings },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.process.stdout.on("data", (data) => (this.printed += data));
    this.process.stderr.on("data", (data) => (this.log = (this.log + data).slice(-20_000)));
    await until("the hub answers", async () => (await fetch(`${this.url}/healthz`).catch(() => null))?.ok && this.printed.includes("password:"));
  }

  /** Stops the process; `run` starts it again where it was. */
  async halt() {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill("SIGTERM");
    await ended;
  }

  async stop() {
    await this.halt();
    rmSync(this.folder, { recursive: true, force: true });
    if (/panic/i.test(this.log)) throw new Error(`the hub panicked:\n${this.log}`);
  }

  /** Starts the hub again with more settings. */
  async configure(settings) {
    this.settings = { ...this.settings, ...settings };
    await this.halt();
    await this.run();
  }

  /** Stops the hub, changes its database, and starts it again: for what takes hours, or a past that nobody can wait for. */
  async rewrite(...statements) {
    await this.halt();
    const { DatabaseSync } = await import("node:sqlite");
    const database = new DatabaseSync(join(this.folder, "stoa.db"));
    for (const [sql, ...values] of statements) database.prepare(sql).run(...values);
    database.close();
    await this.run();
  }

  /** Gives the hub a past of so many messages, half of them in the channel whose name is returned. */
  async fill(messages) {
    await this.halt();
    const size = ["--messages", String(messages), "--users", "2", "--agents", "3", "--channels", "2"];
    const bench = join(dirname(this.binary), "stoa-bench");
    const child = spawn(bench, ["fill", "--data", this.folder, ...size], { stdio: ["ignore", "ignore", "inherit"] });
    const code = await new Promise((resolve) => child.once("exit", resolve));
    if (code !== 0) throw new Error("the hub could not be filled");
    await this.run();
    // Every page searches for what waits, and the hub refuses searches until its index has the new messages.
    await until("the search index is built", () => this.admin.call("GET", "/api/messages/search?state=in_progress&limit=1").then(() => true, () => false));
    return "room-000";
  }

  async agent(name, display_name = name) {
    const { key } = await this.admin.call("POST", "/api/agents", { name, display_name });
    return new Caller(this, key);
  }

  /** A command of whoever operates the hub, and what it prints. */
  operate(...words) {
    return this.operateWith("", ...words);
  }

  /** The same with something on its standard input, for example a secret. */
  async operateWith(input, ...words) {
    const socket = join(this.folder, "admin.sock");
    await until("operators are heard", () => existsSync(socket));
    const child = spawn(this.binary, ["admin", ...words], { env: { ...process.env, STOA_ADMIN_SOCKET: socket }, stdio: ["pipe", "pipe", "inherit"] });
    child.stdin.end(input);
    let printed = "";
    child.stdout.on("data", (data) => (printed += data));
    const code = await new Promise((resolve) => child.once("close", resolve));
    if (code !== 0) throw new Error(`stoa admin ${words.join(" ")}: ${code}`);
    return printed;
  }

  /** Another person, made as operators make them. */
  async person(username, role = "member") {
    // It answers requests a moment before it answers operators.
    const socket = join(this.folder, "admin.sock");
    await until("operators are heard", () => existsSync(socket));
    const child = spawn(
      this.binary,
      ["admin", "users", "create", username, "--role", role, "--display-name", username],
      { env: { ...process.env, STOA_ADMIN_SOCKET: socket }, stdio: ["pipe", "ignore", "inherit"] },
    );
    child.stdin.end(`${username}-password\n`);
    const code = await new Promise((resolve) => child.once("exit", resolve));
    if (code !== 0) throw new Error(`${username} could not be made`);
    const caller = new Caller(this);
    await caller.call("POST", "/auth/login", { username, password: `${username}-password` });
    return caller;
  }
}

/** Somebody who uses the API. */
export class Caller {
  constructor(hub, key) {
    this.hub = hub;
    this.key = key;
    this.cookie = null;
  }

  async call(method, path, body) {
    const headers = body === undefined ? {} : { "Content-Type": "application/json" };
    if (this.key) headers.Authorization = `Bearer ${this.key}`;
    if (this.cookie) headers.Cookie = this.cookie;
    const answer = await fetch(this.hub.url + path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE),
    });
    const [set] = answer.headers.getSetCookie();
    if (set) this.cookie = set.split(";")[0];
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text ? JSON.parse(text) : undefined;
  }

  say(channel, body, more = {}) {
    return this.call("POST", "/api/messages", { channel, body, ...more });
  }

  dm(to, body, more = {}) {
    return this.call("POST", "/api/messages", { to, body, ...more });
  }
}

/** Waits until something is so. */
export async function until(what, holds) {
  const deadline = Date.now() + PATIENCE;
  for (;;) {
    if (await holds()) return;
    if (Date.now() > deadline) throw new Error(`this never came: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export function equal(found, wanted, what) {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) {
    throw new Error(`${what}: found ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
  }
}

/** A browser that notes every fault: errors in the console, broken policies, requests that fail. */
export class Watcher {
  constructor(browser) {
    this.browser = browser;
    this.faults = [];
    this.allowed = [];
  }

  /** Faults that a journey brings about on purpose. */
  allow(pattern) {
    this.allowed.push(pattern);
  }

  note(fault) {
    if (!this.allowed.some((pattern) => pattern.test(fault))) this.faults.push(fault);
  }

  /** A window in which somebody is logged in, or nobody. */
  async window(caller, options = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    context.setDefaultTimeout(PATIENCE);
    if (caller?.cookie) {
      const [name, ...value] = caller.cookie.split("=");
      await context.addCookies([{ name, value: value.join("="), url: caller.hub.url }]);
    }
    return context;
  }

  async page(context) {
    const page = await context.newPage();
    page.on("console", (message) => {
      if (message.type() === "error" || /violat|deprecat/i.test(message.text())) this.note(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => this.note(`page error: ${error.message}`));
    page.on("requestfailed", (request) => {
      const reason = request.failure()?.errorText ?? "";
      // What a page no longer wants when one leaves it.
      if (reason !== "net::ERR_ABORTED") this.note(`request failed: ${request.method()} ${request.url()} ${reason}`);
    });
    page.on("response", (response) => {
      if (response.status() >= 500) this.note(`answer ${response.status()}: ${response.url()}`);
    });
    return page;
  }

  /** No barrier that a program can find. */
  async checkAccess(page, where) {
    // The page has no frames of other origins. For those axe would open a second page at each call, and load itself there, too.
    const axe = new AxeBuilder({ page }).setLegacyMode(true).options({ resultTypes: ["violations"] });
    const { violations } = await axe.withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]).analyze();
    for (const { id, nodes } of violations) this.note(`axe on ${where}: ${id}: ${nodes.map(({ html }) => html).join(" | ").slice(0, 500)}`);
  }
}

export function launch() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
}
