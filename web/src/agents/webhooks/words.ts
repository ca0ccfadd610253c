import type { Attempt, Delivery, DeliveryStatus, Webhook, WebhookEvent } from "../../api/webhooks";

/** Which picture stands beside a word. */
export type IconName = "check" | "checks" | "cross" | "loop" | "pause" | "question" | "retry" | "wait" | "warning";
type Colour = "plain" | "good" | "busy" | "warning" | "bad";

export interface Words {
  word: string;
  icon: IconName;
  colour: Colour;
}

export const MOST_FAILURES = 50;
export const MOST_WEBHOOKS = 10;

/** The events that one can choose, and when the hub sends them. Tests are always sent, and the others are not sent yet. */
export const EVENTS: ReadonlyArray<{ name: WebhookEvent; when: string }> = [
  { name: "message.received", when: "The agent receives a direct message." },
  { name: "message.mentioned", when: "The agent is mentioned in a channel." },
  { name: "channel.message", when: "A message is posted in one of the agent's channels." },
  { name: "workflow.state_changed", when: "Work in one of the agent's conversations changes state." },
];

export const DELIVERY_EVENTS: readonly WebhookEvent[] = [...EVENTS.map(({ name }) => name), "webhook.ping"];

export const STATUSES: Record<DeliveryStatus, Words> = {
  pending: { word: "Pending", icon: "wait", colour: "busy" },
  delivered: { word: "Delivered", icon: "checks", colour: "good" },
  dead: { word: "Dead letter", icon: "cross", colour: "bad" },
  held: { word: "Held", icon: "pause", colour: "warning" },
  suppressed_loop: { word: "Suppressed", icon: "loop", colour: "plain" },
};

export const DELIVERY_STATUSES = Object.keys(STATUSES) as DeliveryStatus[];

/** A delivery that failed before is not only waiting. */
export function statusOf(delivery: Pick<Delivery, "status" | "attempts">): Words {
  return delivery.status === "pending" && delivery.attempts.length > 0 ? { word: "Retrying", icon: "retry", colour: "warning" } : STATUSES[delivery.status];
}

const ANSWERS: Record<number, string> = {
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  301: "Moved",
  302: "Found",
  307: "Redirect",
  308: "Redirect",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  410: "Gone",
  413: "Too Large",
  415: "Unsupported Type",
  422: "Unprocessable",
  429: "Too Many Requests",
  500: "Server Error",
  502: "Bad Gateway",
  503: "Unavailable",
  504: "Gateway Timeout",
};

const ERRORS: Record<string, string> = {
  bad_url: "not a valid address",
  forbidden_scheme: "only https is allowed",
  forbidden_address: "address not allowed",
  unresolvable: "host not found",
  connect_failed: "connection failed",
  no_roots: "no root certificates",
  tls: "TLS failed",
  timed_out: "timed out",
  broken: "connection broken",
};

/** The answer of a receiver, or why there is none. Unknown words are shown as they are. */
export function answerOf({ status, error }: Pick<Attempt, "status" | "error">): string {
  if (status) return ANSWERS[status] ? `${status} ${ANSWERS[status]}` : String(status);
  return error ? (ERRORS[error] ?? error) : "no response";
}

const REASONS: Record<string, string> = {
  disabled: "The webhook was disabled before the delivery could be sent.",
  owner_disabled: "The account of the agent's owner is disabled.",
  expired: "Expired after 72 hours.",
  not_visible: "The agent can no longer see the message.",
  deleted: "The message was deleted.",
};

/** Why a delivery has its status, if its attempts do not show it. */
export function reasonOf({ status, reason, depth }: Pick<Delivery, "status" | "reason" | "depth">): string | null {
  if (status === "suppressed_loop") return `Stopped to prevent a loop: ${depth} automated steps in a row.`;
  if (status === "held") return "The webhook is disabled after failures. Stoa sends this when the receiver responds again.";
  return reason ? (REASONS[reason] ?? reason) : null;
}

/** How long an answer took. The hub rounds times of private networks to 100 ms. */
export function took(milliseconds: number): string {
  if (milliseconds === 0) return "< 50 ms";
  return milliseconds < 1000 ? `${milliseconds} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

export interface WebhookState extends Words {
  /** The meaning, where the word is not enough. */
  about: string | null;
}

/** Whether a webhook keeps deliveries that it cannot send. */
export function holds(webhook: Pick<Webhook, "disabled_reason">): boolean {
  return webhook.disabled_reason === "failures";
}

/** Whether deliveries of a webhook are on their way. */
export function isSending(webhook: Pick<Webhook, "waiting" | "disabled_reason">): boolean {
  return webhook.waiting > 0 && !holds(webhook);
}

/** A text that changes when a delivery arrives, fails or starts to wait. */
export function pulseOf(webhooks: readonly Webhook[]): string {
  return webhooks
    .map((one) => [one.id, one.status, one.waiting, one.dead_letters, one.consecutive_failures, one.last_delivery_at].join(" "))
    .join(", ");
}

export function stateOf(webhook: Pick<Webhook, "status" | "disabled_reason" | "waiting">): WebhookState {
  if (webhook.status === "active") return { word: "Enabled", icon: "check", colour: "good", about: null };
  if (webhook.status === "failing") return { word: "Failing", icon: "warning", colour: "warning", about: null };
  switch (webhook.disabled_reason) {
    case "failures": {
      const held = webhook.waiting === 1 ? "1 delivery" : `${webhook.waiting.toLocaleString()} deliveries`;
      const about = `${MOST_FAILURES} deliveries failed in a row. Stoa holds ${held} for up to 72 hours and sends them when the receiver responds again.`;
      return { word: "Disabled", icon: "cross", colour: "bad", about };
    }
    case "gone":
      return { word: "Refused", icon: "cross", colour: "bad", about: "The receiver returned 410 Gone. Stoa sends nothing until you enable the webhook." };
    case "unreachable":
      return { word: "Disabled", icon: "cross", colour: "bad", about: "The receiver did not respond for 72 hours. Stoa sends nothing until you enable the webhook." };
    case "unconfirmed":
      return { word: "Not confirmed", icon: "question", colour: "warning", about: "The agent registered this webhook. Stoa sends nothing until you enable it." };
    default:
      return { word: "Paused", icon: "pause", colour: "plain", about: "Stoa sends nothing and keeps no events until you enable the webhook." };
  }
}

export interface Health {
  delivered: number;
  /** How many came to an end. */
  ended: number;
  medianMs: number | null;
}

/** The results of deliveries. Tests do not count, as they do not count for the hub. */
export function healthOf(deliveries: readonly Delivery[]): Health {
  const ended = deliveries.filter(({ event, status }) => event !== "webhook.ping" && (status === "delivered" || status === "dead"));
  const delivered = ended.filter(({ status }) => status === "delivered");
  const times = delivered.flatMap(({ attempts }) => attempts.at(-1)?.duration_ms ?? []).sort((one, other) => one - other);
  return { delivered: delivered.length, ended: ended.length, medianMs: times[Math.floor((times.length - 1) / 2)] ?? null };
}

/** The address of a webhook without its scheme, for tables. */
export function shortAddress(url: string): string {
  return url.replace(/^https:\/\//, "");
}
