// A receiver of webhooks in JavaScript: node webhooks.mjs SETTINGS
//
// Has the hub send deliveries before, during and after a rotation of the secret. Verifies them with the library
// standardwebhooks and with the example of docs/webhooks.md, and writes them to a file for webhooks.py. SETTINGS is a
// file of scripts/check-signatures.

import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

import { remember, verify } from "../../docs/examples/verify-webhook/verify.mjs";
import { Person } from "./person.mjs";

const settings = JSON.parse(readFileSync(process.argv[2], "utf8"));
const failures = [];

function check(is_right, what) {
  if (!is_right) {
    failures.push(what);
  }
}

function refuses(action) {
  try {
    action();
    return false;
  } catch {
    return true;
  }
}

const arrived = [];
let wake = () => {};
const receiver = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) {
    chunks.push(chunk);
  }
  arrived.push({ headers: request.headers, body: Buffer.concat(chunks) });
  response.end("noted");
  wake();
});
receiver.listen(0, "127.0.0.1");
await once(receiver, "listening");

const person = new Person(settings.url);
await person.logIn("admin", settings.password);
await person.call("POST", "/api/agents", { name: "verifier" }, 201);
const url = `http://127.0.0.1:${receiver.address().port}/`;
const created = await person.call("POST", "/api/webhooks", { agent: "verifier", url, events: ["webhook.ping"] }, 201);
const path = `/api/webhooks/${created.webhook.id}`;

/** Has the hub send a test, and returns what arrived. */
async function ping() {
  const next = new Promise((resolve) => (wake = resolve));
  await person.call("POST", `${path}/test`, {}, 202);
  await next;
  return arrived.at(-1);
}

const rotate = async (wish) => (await person.call("POST", `${path}/rotate-secret`, wish, 200)).secret;
const first = created.secret;
const before = await ping();
const second = await rotate({});
const during = await ping();
const third = await rotate({ keep_old: false });
const after = await ping();
const secrets = [first, second, third];
const deliveries = [
  { name: "before the rotation", ...before, good: [first] },
  { name: "during the rotation", ...during, good: [first, second] },
  { name: "after the secret was dropped", ...after, good: [third] },
];

for (const { name, headers, body, good } of deliveries) {
  for (const secret of secrets) {
    const [is_good, webhook] = [good.includes(secret), new Webhook(secret)];
    check(refuses(() => webhook.verify(body, headers)) !== is_good, `${name}: the library, secret ${secrets.indexOf(secret)}`);
  }
  const [secret] = good;
  check(JSON.parse(body).id === headers["webhook-id"], `${name}: the id`);
  const changed = Buffer.from(body.toString().replace("webhook.ping", "webhook.pong"));
  const old = new Date(Date.now() - 10 * 60 * 1000);
  const id = headers["webhook-id"];
  // With a right signature, so that only the time speaks against it.
  const expired = {
    ...headers,
    "webhook-timestamp": String(Math.floor(old.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign(id, old, body.toString()),
  };
  for (const [what, read] of [
    ["the library", (given, bytes) => new Webhook(secret).verify(bytes, given)],
    ["the example", (given, bytes) => verify(secret, given, bytes)],
  ]) {
    check(refuses(() => read(headers, changed)), `${name}: ${what} accepts another body`);
    check(refuses(() => read(expired, body)), `${name}: ${what} accepts an old delivery`);
    check(refuses(() => read({}, body)), `${name}: ${what} accepts a request without signature`);
  }
  for (const bad of secrets.filter((secret) => !good.includes(secret))) {
    check(refuses(() => verify(bad, headers, body)), `${name}: the example, secret ${secrets.indexOf(bad)}`);
  }
  const event = verify(good.at(-1), headers, body);
  check(event?.type === "webhook.ping", `${name}: the example does not know it`);
  check(verify(secret, headers, body) !== null, `${name}: the example forgets what was not handled`);
  remember(event);
  check(verify(secret, headers, body) === null, `${name}: the example takes a repetition for new`);
}

// The vector that libraries of others agree on.
const vector = {
  secret: "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
  id: "msg_01HZX3V8Q0",
  body: '{"type":"workflow.state_changed","timestamp":"2027-01-15T08:00:00Z","data":{"message_id":42}}',
  signature: "v1,4tBBOxytc2WFq4E2JsZGk/gZ2hj336Pbo6hfWRx/Fiw=",
};
check(new Webhook(vector.secret).sign(vector.id, new Date(1_800_000_000_000), vector.body) === vector.signature, "the vector");

const shown = deliveries.map(({ name, headers, body, good }) => ({ name, headers, body: body.toString("base64"), good }));
writeFileSync(settings.deliveries, JSON.stringify({ secrets, deliveries: shown, vector }));
receiver.close();
receiver.closeAllConnections();
for (const failure of failures) {
  console.error(`webhooks.mjs: ${failure}`);
}
process.exitCode = failures.length ? 1 : 0;
