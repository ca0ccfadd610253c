import type { HookKind, HookOutcome } from "../../api/hooks";

export const KINDS: Record<HookKind, { label: string; about: string }> = {
  github: { label: "GitHub", about: "GitHub signs each request with the secret." },
  standard: { label: "Standard Webhooks", about: "For services that follow standardwebhooks.com." },
  url: { label: "Secret URL", about: "For services that cannot sign requests, for example those made for Slack. The URL contains the secret." },
};

interface OutcomeWords {
  label: string;
  colour: "good" | "plain" | "bad";
  /** The status of the answer. The hub does not record it, but each outcome has its own. */
  status: string;
  reason: string;
}

export const OUTCOMES: Record<HookOutcome, OutcomeWords> = {
  posted: { label: "Posted", colour: "good", status: "200", reason: "" },
  duplicate: { label: "Duplicate", colour: "plain", status: "200", reason: "The hub received the same request before." },
  ignored: { label: "Ignored", colour: "plain", status: "200", reason: "The event is not in the list of events." },
  invalid_signature: { label: "Refused", colour: "bad", status: "401", reason: "The signature or the secret is missing or wrong." },
  expired: { label: "Refused", colour: "bad", status: "401", reason: "The timestamp is more than 5 minutes off." },
  rate_limited: { label: "Refused", colour: "bad", status: "429", reason: "The hook received more than 60 requests in a minute." },
  malformed: { label: "Refused", colour: "bad", status: "400 or 422", reason: "The body is not valid JSON, or it cannot become a message." },
  empty: { label: "Refused", colour: "bad", status: "422", reason: "The message would be empty." },
  disabled: { label: "Refused", colour: "bad", status: "409", reason: "The hook or its owner is disabled." },
  target_unavailable: { label: "Refused", colour: "bad", status: "409", reason: "The target was deleted, or you can no longer write there." },
};
