import type { QueryClient } from "@tanstack/react-query";

import { api, ok, repeatKey } from "../api/client";
import { Problem, sentenceOf } from "../api/problem";
import { type Attachment, type Place, type SendMessage, placeKey } from "../api/types";
import { person } from "../lib/person";
import { load, save } from "../lib/storage";
import { store } from "../lib/store";
import { link } from "../live/link";
import type { components } from "../api/schema";
import { addMessages } from "./cache";

type Schemas = components["schemas"]["SendMessageRequest"];

/** Where a tab keeps what somebody has not sent yet. */
export const outgoingKey = () => `stoa.outgoing.${person.get()}`;

/** A message that is on its way, or that could not be sent. */
export interface Outgoing {
  key: string;
  place: string;
  replyTo: number | null;
  request: SendMessage;
  files?: readonly Attachment[];
  at: string;
  error: string | null;
  /** Whether the hub refused it, so that sending the same again does not help. */
  isRefused?: boolean;
  /** Whether it is so old that the person must say whether to send it. */
  isOld?: boolean;
}

/** A message that failed although the hub is there is sent again after this long. */
const AGAIN_MS = 10_000;

export const outgoing = store<Outgoing[]>(unsent());

// The tab keeps them, so that neither a reload nor a new login loses any. Their keys stay the same, so none is sent twice by that.
outgoing.subscribe(() => save(outgoingKey(), outgoing.get().length ? outgoing.get() : null, "tab"));
// What somebody else had not sent is not shown, and so not sent as what another person says.
person.subscribe(() => outgoing.set(unsent()));

/** What the person had not sent yet when the page was left in this tab. */
function unsent(): Outgoing[] {
  const kept = load<unknown>(outgoingKey(), [], "tab");
  const all = Array.isArray(kept) ? (kept as Outgoing[]) : [];
  return all.map((one) => ({ ...one, error: one.isRefused && one.error ? one.error : "Not sent: you left the page." }));
}

export function change(key: string, next: Partial<Outgoing>): void {
  outgoing.set((now) => now.map((one) => (one.key === key ? { ...one, ...next } : one)));
}

export function discard(key: string): void {
  outgoing.set((now) => now.filter((one) => one.key !== key));
}

/** Sends a message: it is shown at once, and the hub knows a repetition by its key. */
export function send(
  client: QueryClient,
  place: Place,
  request: Omit<SendMessage, "to" | "channel">,
  files: readonly Attachment[] = [],
): void {
  const target = place.kind === "channel" ? { channel: place.name } : { to: place.name };
  const full = { ...request, ...target };
  const one: Outgoing = {
    key: repeatKey(),
    place: placeKey(place),
    replyTo: request.reply_to ?? null,
    request: full,
    files,
    at: new Date().toISOString(),
    error: null,
  };
  outgoing.set((now) => [...now, one]);
  const before = turns.get(one.place);
  const turn = before ? before.then(() => sendInTurn(client, place, one)) : sendInTurn(client, place, one);
  turns.set(one.place, turn);
  void turn.finally(() => turns.get(one.place) === turn && turns.delete(one.place));
}

/** What is sent in each conversation comes one after the other, in the order in which it was written. */
const turns = new Map<string, Promise<unknown>>();

async function sendInTurn(client: QueryClient, place: Place, one: Outgoing): Promise<void> {
  const all = outgoing.get();
  const isBefore = (other: Outgoing) => other.place === one.place && other.error !== null && !other.isRefused && !other.isOld;
  const mine = all.findIndex(({ key }) => key === one.key);
  // The person may have left, or discarded it, in between.
  if (mine < 0) return;
  if (all.slice(0, mine).some(isBefore)) return change(one.key, { error: "Waits for the message before it." });
  await deliver(client, place, one);
}

export function retry(client: QueryClient, place: Place, one: Outgoing): void {
  void deliver(client, place, one);
}

/** Sends what could not be sent, if the hub is there. */
export function resendSoon(client: QueryClient): void {
  if (link.get() === "live" && outgoing.get().some(({ error }) => error !== null)) {
    void import("./resend").then(({ resend }) => resend(client), () => undefined);
  }
}

/** Whether the hub has it now. */
export async function deliver(client: QueryClient, place: Place, one: Outgoing): Promise<boolean> {
  change(one.key, { error: null, isOld: false });
  try {
    const params = { header: { "Idempotency-Key": one.key } };
    const sent = await ok(api.POST("/api/messages", { params, body: one.request as Schemas }));
    client.setQueryData(["delivery", sent.id], sent.delivery);
    addMessages(client, place, [sent]);
    if (one.replyTo !== null) void client.invalidateQueries({ queryKey: ["replies", one.replyTo] });
    discard(one.key);
    return true;
  } catch (error) {
    // Who is logged out sends it after the next login.
    const isRefused = error instanceof Problem && !error.isPassing && error.status !== 401 && error.code !== "other_user";
    change(one.key, { error: sentenceOf(error), isRefused });
    if (!isRefused) setTimeout(() => resendSoon(client), AGAIN_MS);
    return false;
  }
}
