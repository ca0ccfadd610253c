import type { DeliveryRequest } from "../../api/webhooks";
import { shellWord } from "../../lib/shell";

/** JSON in visible ASCII only: what others wrote must not reach a terminal as control characters. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Visible ASCII stays; anything else has no place in a header or an address, and would hide what is pasted. */
function ascii(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, "");
}

/** The request of a delivery as a command. It has no signature: the hub shows none that would be valid. */
export function curlOf({ url, headers, body }: DeliveryRequest): string {
  const lines = [`curl -X POST ${shellWord(ascii(url))}`];
  for (const [name = "", value = ""] of headers) {
    if (name.toLowerCase() !== "webhook-signature") lines.push(`-H ${shellWord(ascii(`${name}: ${value}`))}`);
  }
  lines.push(`--data-raw ${shellWord(asciiJson(body))}`);
  return lines.join(" \\\n  ");
}
