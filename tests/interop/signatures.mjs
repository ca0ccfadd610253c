// A machine principal in JavaScript: node signatures.mjs SETTINGS
//
// Signs with the library http-message-sig what the hub must take in, and what it must refuse; then verifies what
// `stoa registry sign` has signed. SETTINGS is a file of scripts/check-signatures.

import { createHash, createPrivateKey, createPublicKey, randomBytes, sign as signBytes, verify as verifyBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSignature, isSignatureError, verifySignature } from "http-message-sig";

const settings = JSON.parse(readFileSync(process.argv[2], "utf8"));
const keyId = `${settings.principal}/${settings.kid}`;
const tag = `svc-machine-v1:${settings.audience}`;
const key = createPrivateKey(readFileSync(settings.key));
const head = ["@method", "@authority", "@path", "@query"];
const whole = [...head, "content-type", "content-digest"];
const eventType = "application/cloudevents+json";
const failures = [];

const now = () => Math.floor(Date.now() / 1000);
const digest = (body, algorithm = "sha256") =>
  `${algorithm.replace("sha", "sha-")}=:${createHash(algorithm).update(body).digest("base64")}:`;
const descriptor = ({ method, url, headers }) => ({
  kind: "request",
  method,
  targetUri: url,
  fields: Object.entries(headers).map(([name, value]) => ({ name, value })),
});

/** A request that is ready to be signed. */
function request(method, target, text, contentType = eventType) {
  const body = text === undefined ? undefined : Buffer.from(text);
  const headers = body ? { "Content-Type": contentType, "Content-Digest": digest(body) } : {};
  return { method, url: settings.url + target, headers, body };
}

/** The same with a signature. */
async function sign(message, { components, label = "sig1", ...parameters } = {}) {
  const created = parameters.created ?? now();
  const fields = await createSignature(descriptor(message), {
    label,
    components: components ?? (message.body ? whole : head),
    parameters: { created, expires: created + 120, nonce: randomBytes(16).toString("base64url"), keyid: keyId, tag, ...parameters },
    signer: { algorithm: "ed25519", sign: (data) => signBytes(null, data, key) },
  });
  return { ...message, headers: { ...message.headers, "Signature-Input": fields.signatureInput, Signature: fields.signature } };
}

/** Sends a request, and notes when the answer is another one. */
async function expect(what, message, status, code) {
  const { method, headers, body } = message;
  const answer = await fetch(message.url, { method, headers, body, redirect: "error", signal: AbortSignal.timeout(20_000) });
  const text = await answer.text();
  const found = text ? JSON.parse(text) : {};
  if (answer.status !== status || (status >= 400 && found.code !== code)) {
    failures.push(`${what}: ${answer.status} ${text.slice(0, 300)}`);
  }
  return found;
}

const event = (name) => ({ specversion: "1.0", id: `node-${name}`, source: settings.principal, type: "svc.demo.ping" });
const post = (name, options) => sign(request("POST", "/machine/events", JSON.stringify(event(name))), options);

async function checkHub() {
  await expect("one event", await post("one"), 202);
  const batch = JSON.stringify([event("ünïcode"), event("second")]);
  await expect("a batch", await sign(request("POST", "/machine/events", batch, "application/cloudevents-batch+json")), 202);
  const long = request("POST", "/machine/events", JSON.stringify(event("sha-512")));
  long.headers["Content-Digest"] = `${digest(long.body, "sha512")}, ${digest(long.body)}`;
  await expect("sha-512", await sign(long), 202);
  await expect("alg, another label", await post("alg", { alg: "ed25519", label: "mine" }), 202);
  await expect("another order", await post("order", { components: [...whole].reverse() }), 202);
  await expect("unknown parameters", await post("more", { flag: true, level: 1.5, note: 'a "b" \\' }), 202);
  const status = request("PUT", "/machine/runtime-status/work%65r", '{"status":"ok"}', "application/json");
  await expect("an encoded path", await sign(status), 200);
  const found = await expect("evidence", await sign(request("GET", "/machine/evidence?event_id=node-one")), 200);
  if (found.items?.length !== 1 || found.items[0].event_id !== "node-one") {
    failures.push(`evidence: ${JSON.stringify(found)}`);
  }
  const query = "/machine/evidence?since=2026-01-01T00%3A00%3A00Z&&limit=1";
  await expect("an encoded query", await sign(request("GET", query)), 200);

  const again = await post("replay");
  await expect("a first use", again, 202);
  await expect("a second use", again, 401, "signature_replayed");
  const other = await post("digest");
  await expect("another body", { ...other, body: Buffer.from(other.body.toString().replace("digest", "tsegid")) }, 400, "digest_mismatch");
  const moved = await sign(request("GET", "/machine/evidence"));
  await expect("another query", { ...moved, url: `${moved.url}?limit=1` }, 401, "signature_invalid");
  await expect("another audience", await post("audience", { tag: "svc-machine-v1:svc-bell" }), 401, "signature_invalid");
  await expect("an old signature", await post("old", { created: now() - 500 }), 401, "signature_expired");
  await expect("a long one", await post("long", { expires: now() + 400 }), 401, "signature_expired");
  await expect("no @query", await post("query", { components: whole.filter((name) => name !== "@query") }), 401, "signature_incomplete");
  await expect("no nonce", await post("nonce", { nonce: undefined }), 401, "signature_incomplete");
  await expect("a key that is not there", await post("key", { keyid: `${settings.principal}/key-unknown` }), 401, "signature_invalid");
  await expect("no signature", request("POST", "/machine/events", "{}"), 401, "unauthenticated");
}

async function verify(signed, body) {
  if (body && signed.headers["Content-Digest"] !== digest(body)) {
    throw new Error("the digest is another one");
  }
  const publicKey = createPublicKey(key);
  await verifySignature(descriptor(signed), {
    policy: {
      algorithms: ["ed25519"],
      requiredComponents: body ? whole : head,
      requiredParameters: ["created", "expires", "nonce", "keyid", "tag"],
      maxAge: 300,
      clockSkew: 60,
      validate: ({ parameters }) => parameters.tag === tag && parameters.keyid === keyId,
    },
    resolveVerifier: () => ({
      algorithm: "ed25519",
      verify: (data, signature) => verifyBytes(null, data, publicKey, signature),
    }),
  });
}

/** What `stoa registry sign` printed, and the file that was its body. */
async function checkSigned(entry) {
  const signed = JSON.parse(readFileSync(entry.request, "utf8"));
  const body = entry.body ? readFileSync(entry.body) : undefined;
  await verify(signed, body);
  for (const [what, changed] of [
    ["method", { ...signed, method: "DELETE" }],
    ["path", { ...signed, url: signed.url.replace("/machine/", "/machines/") }],
    ["query", { ...signed, url: signed.url + (signed.url.includes("?") ? "&a" : "?a") }],
    ["host", { ...signed, url: signed.url.replace("127.0.0.1", "localhost") }],
  ]) {
    const refused = await verify(changed, body).then(() => false, isSignatureError);
    if (!refused) {
      failures.push(`${entry.request}: another ${what} verifies too`);
    }
  }
}

await checkHub();
for (const entry of settings.signed) {
  await checkSigned(entry);
}
for (const failure of failures) {
  console.error(`signatures.mjs: ${failure}`);
}
process.exitCode = failures.length ? 1 : 0;
