import { createHmac, timingSafeEqual } from "node:crypto";

const TOLERANCE_SECONDS = 300;
const REMEMBERED_IDS = 10_000;
// Keep the ids in your database if several processes receive deliveries.
const handled = new Set();

/** Remembers an event that you have handled. Do this last: the hub sends again what you do not answer with 2xx. */
export function remember(event) {
  handled.add(event.id);
  if (handled.size > REMEMBERED_IDS) {
    handled.delete(handled.values().next().value);
  }
}

/**
 * Returns the event, or null if you have handled it before. Throws if the request is not from the hub.
 * `headers` have lower-case names; `rawBody` is a Buffer with the body as it arrived.
 */
export function verify(secret, headers, rawBody) {
  const id = headers["webhook-id"] ?? "";
  const timestamp = headers["webhook-timestamp"] ?? "";
  if (!/^\d+$/.test(timestamp) || Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) {
    throw new Error("The timestamp is missing or more than 5 minutes off.");
  }
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(rawBody).digest();
  // After a rotation there are two signatures for 24 hours.
  const isSigned = (headers["webhook-signature"] ?? "").split(" ").some((signature) => {
    const given = Buffer.from(signature.replace(/^v1,/, ""), "base64");
    return signature.startsWith("v1,") && given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!isSigned) {
    throw new Error("The signature is wrong.");
  }
  return handled.has(id) ? null : JSON.parse(rawBody);
}
