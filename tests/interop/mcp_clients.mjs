// The MCP client of the official library in JavaScript: node mcp_clients.mjs SETTINGS
//
// Goes through a piece of work between two agents, once for each revision of the protocol and for each way to the hub: with
// OAuth, with a key, and with a key through `stoa mcp`.
// In the middle of all of them it prints `restart` and waits for a line: the hub is started again in between. SETTINGS is a
// file of scripts/check-mcp.

import assert from "node:assert/strict";
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Person } from "./person.mjs";

const settings = JSON.parse(readFileSync(process.argv[2], "utf8"));
const endpoint = new URL("/mcp", settings.url);
const REVISIONS = ["2025-06-18", "2025-11-25", "2026-07-28"];
const REDIRECT = "http://127.0.0.1:33418/callback";
const SCOPE = "mcp:read mcp:write";

/** Notes what neither the log nor the database may hold. */
function secret(value) {
  assert.equal(typeof value, "string");
  appendFileSync(settings.secrets, `${value}\n`);
  return value;
}

/** What the library asks of a program that logs in with OAuth, all in memory. */
class Login {
  constructor(name) {
    this.redirectUrl = REDIRECT;
    this.clientMetadata = { client_name: name, redirect_uris: [REDIRECT], token_endpoint_auth_method: "none" };
    this.issued = 0;
  }

  state() {
    this.expectedState = crypto.randomUUID();
    return this.expectedState;
  }

  clientInformation() {
    return this.client;
  }

  saveClientInformation(client) {
    this.client = client;
  }

  tokens() {
    return this.saved;
  }

  saveTokens(tokens) {
    secret(tokens.access_token);
    secret(tokens.refresh_token);
    this.saved = tokens;
    this.issued += 1;
  }

  redirectToAuthorization(address) {
    this.question = address;
  }

  saveCodeVerifier(verifier) {
    this.verifier = verifier;
  }

  codeVerifier() {
    return this.verifier;
  }

  saveDiscoveryState(found) {
    this.discovered = found;
  }

  discoveryState() {
    return this.discovered;
  }

  invalidateCredentials(scope) {
    if (["all", "tokens"].includes(scope)) {
      this.saved = undefined;
    }
  }
}

/** A client of one revision, which notes what the hub answered. */
class Agent {
  constructor(name, revision, authProvider, bridgeKey) {
    this.name = name;
    this.revision = revision;
    this.authProvider = authProvider;
    this.bridgeKey = bridgeKey;
    this.answers = [];
    const options =
      revision < "2026" ? { supportedProtocolVersions: [revision] } : { versionNegotiation: { mode: "auto" } };
    this.client = new Client({ name: "stoa-interop", version: "1.0.0" }, options);
  }

  makeTransport() {
    if (this.bridgeKey) {
      const env = { STOA_MCP_KEY: this.bridgeKey, STOA_MCP_URL: settings.url };
      this.transport = new StdioClientTransport({ command: settings.binary, args: ["mcp"], env });
      return this.transport;
    }
    this.transport = new StreamableHTTPClientTransport(endpoint, {
      authProvider: this.authProvider,
      fetch: async (address, init) => {
        const answer = await fetch(address, init);
        if (new URL(address).pathname === endpoint.pathname) {
          this.answers.push({ method: init?.method ?? "GET", status: answer.status, challenge: answer.headers.get("WWW-Authenticate") });
        }
        return answer;
      },
    });
    return this.transport;
  }

  async connect() {
    await this.client.connect(this.makeTransport());
    assert.equal(this.client.getNegotiatedProtocolVersion(), this.revision);
    assert.equal(this.client.getServerVersion().name, "stoa");
    assert.equal(this.transport.sessionId, undefined);
  }

  /** Calls a tool, which must succeed. The library checks the answer against the tool's output schema. */
  async call(name, args = {}) {
    const result = await this.client.callTool({ name, arguments: args });
    assert.ok(!result.isError, `${name}: ${JSON.stringify(result)}`);
    const [{ text }] = result.content;
    assert.deepEqual(JSON.parse(text), result.structuredContent);
    return result.structuredContent;
  }

  lastPost() {
    return this.answers.findLast(({ method }) => method === "POST");
  }
}

/** Logs in as the library does: from the challenge of the hub, over the person's consent, to tokens. */
async function logIn(agent, person) {
  const login = agent.authProvider;
  await assert.rejects(agent.connect(), (error) => UnauthorizedError.isInstance(error) || UnauthorizedError.isInstance(error.cause));
  const { status, challenge } = agent.lastPost();
  assert.equal(status, 401);
  assert.match(challenge, /^Bearer resource_metadata="/);
  assert.equal(login.discovered.resourceMetadataUrl, `${settings.url}/.well-known/oauth-protected-resource/mcp`);
  assert.equal(login.question.searchParams.get("resource"), endpoint.href);
  const callback = await person.submit(await person.open(login.question), { agent: agent.name, decision: "approve" });
  assert.equal(callback.searchParams.get("state"), login.expectedState);
  secret(callback.searchParams.get("code"));
  await agent.transport.finishAuth(callback.searchParams);
  assert.deepEqual(login.saved.scope.split(" ").filter((scope) => scope !== "offline_access").join(" "), SCOPE);
  await agent.connect();
}

async function checkTools(agent) {
  const { tools } = await agent.client.listTools();
  const found = Object.fromEntries(tools.map((tool) => [tool.name, tool]));
  for (const name of ["my_status", "send_message", "wait_for_messages", "claim_messages", "mark_done"]) {
    const { description, inputSchema, outputSchema, annotations } = found[name];
    assert.ok(description);
    assert.equal(inputSchema.type, "object");
    assert.equal(outputSchema.type, "object");
    assert.deepEqual(Object.keys(annotations).sort(), ["destructiveHint", "idempotentHint", "openWorldHint", "readOnlyHint"]);
  }
  assert.equal(found.my_status.annotations.readOnlyHint, true);
  assert.equal((await agent.call("my_status")).name, agent.name);
  const wrong = await agent.client.callTool({ name: "send_message", arguments: { to: "nobody-there", body: "Hello?" } });
  assert.equal(wrong.isError, true);
  assert.equal(typeof wrong._meta["stoa/error"].code, "string");
  await assert.rejects(agent.client.callTool({ name: "send_mesage", arguments: {} }), /send_message/);
}

/** One waits while the other sends. */
async function beginWork({ author, worker }) {
  const waiting = worker.call("wait_for_messages", { timeout_seconds: 50 });
  const body = `Weigh the anchor, in ${author.revision}: ⚓`;
  const sent = await author.call("send_message", { to: worker.name, body, idempotency_key: "once" });
  assert.deepEqual(await author.call("send_message", { to: worker.name, body, idempotency_key: "once" }), sent);
  const { items } = await waiting;
  assert.deepEqual(items.map(({ id, from, content }) => ({ id, from, content })), [{ id: sent.id, from: author.name, content: body }]);
  return { sent, body };
}

async function endWork({ author, worker }, { sent, body }) {
  const claimed = await worker.call("claim_messages", { limit: 5 });
  assert.deepEqual(claimed.items.map(({ id, content }) => ({ id, content })), [{ id: sent.id, content: body }]);
  const waiting = author.call("wait_for_messages", { timeout_seconds: 50 });
  const settled = await worker.call("mark_done", { message_id: sent.id, result: "Forty tonnes." });
  assert.equal(settled.status, "done");
  const { items } = await waiting;
  assert.deepEqual(items.map(({ id, reply_to, content }) => ({ id, reply_to, content })), [
    { id: settled.reply_id, reply_to: sent.id, content: "Forty tonnes." },
  ]);
}

/** A token that the hub no longer takes is replaced without the person; a revoked one cannot be. */
async function checkTokens(agent) {
  const login = agent.authProvider;
  const { issued, question } = login;
  const before = login.saved;
  login.saved = { ...before, access_token: `${before.access_token.slice(0, -6)}aaaaaa` };
  assert.equal((await agent.call("my_status")).name, agent.name);
  assert.deepEqual(agent.answers.slice(-2).map(({ status }) => status), [401, 200]);
  assert.match(agent.answers.at(-2).challenge, /error="invalid_token"/);
  assert.equal(login.issued, issued + 1);
  assert.equal(login.question, question);
  assert.notEqual(login.saved.refresh_token, before.refresh_token);

  const { revocation_endpoint: address } = login.discovered.authorizationServerMetadata;
  const form = { token: login.saved.refresh_token, token_type_hint: "refresh_token", client_id: login.client.client_id };
  const revoked = await fetch(address, { method: "POST", body: new URLSearchParams(form) });
  assert.equal(revoked.status, 200);
  const calls = agent.answers.length;
  const { warn } = console;
  console.warn = () => {}; // it tells of the refusal
  await assert.rejects(agent.call("my_status"), UnauthorizedError);
  console.warn = warn;
  assert.deepEqual(agent.answers.slice(calls).map(({ status }) => status), [401]);
  // All that is left to the library is to ask the person again.
  assert.notEqual(login.question, question);
}

async function restart() {
  const lines = createInterface({ input: process.stdin });
  const answered = new Promise((resolve, reject) => lines.once("line", resolve).once("close", () => reject(new Error("no answer"))));
  console.log("restart");
  assert.equal(await answered, "restarted");
  lines.close();
}

const person = new Person(settings.url);
await person.logIn(settings.username, settings.password);
Object.values(person.cookies).forEach(secret);

async function makeAgent(name) {
  const { key } = await person.call("POST", "/api/agents", { name }, 201);
  return secret(key);
}

const withKey = (key) => ({ token: async () => key });

let where = "at the beginning";
try {
  const pairs = [];
  for (const [index, revision] of REVISIONS.entries()) {
    for (const kind of ["oauth", "key", "bridge"]) {
      where = `${revision} with ${kind}`;
      const names = { author: `javascript-author-${index}-${kind}`, worker: `javascript-worker-${index}-${kind}` };
      const key = await makeAgent(names.author);
      const provider = { oauth: () => new Login(`JavaScript ${revision}`), key: () => withKey(key), bridge: () => undefined }[kind]();
      const author = new Agent(names.author, revision, provider, kind === "bridge" ? key : undefined);
      const worker = new Agent(names.worker, revision, withKey(await makeAgent(names.worker)));
      await (kind === "oauth" ? logIn(author, person) : author.connect());
      await worker.connect();
      await checkTools(author);
      await worker.client.listTools();
      const pair = { where, kind, author, worker };
      pairs.push({ ...pair, work: await beginWork(pair) });
    }
  }
  where = "at the restart";
  // Whoever waits is told that there is nothing, and does not see the hub go.
  const parked = pairs.map(({ author }) => author.call("wait_for_messages", { timeout_seconds: 50 }));
  await Promise.all(pairs.map(({ worker }) => worker.call("my_status")));
  await restart();
  for (const { items } of await Promise.all(parked)) {
    assert.deepEqual(items, []);
  }
  for (const pair of pairs) {
    where = `${pair.where}, after the restart`;
    await endWork(pair, pair.work);
    if (pair.kind === "oauth") {
      await checkTokens(pair.author);
    }
    await Promise.all([pair.author.client.close(), pair.worker.client.close()]);
  }
} catch (error) {
  console.error(`mcp_clients.mjs: ${where}:`, error);
  process.exit(1);
}
