import type { QueryClient } from "@tanstack/react-query";

import type { Place } from "../api/types";
import { person } from "../lib/person";
import { type Outgoing, change, deliver, outgoing } from "./outbox";

/** What is older may no longer be what the person wants to say. */
const OLD_MS = 3_600_000;

let isBusy = false;

/** Sends what could not be sent: in the order of each conversation, and only as the person who wrote it. */
export async function resend(client: QueryClient): Promise<void> {
  if (isBusy) return;
  isBusy = true;
  try {
    const places = new Set(outgoing.get().map(({ place }) => place));
    await Promise.all([...places].map((place) => resendIn(client, place)));
  } finally {
    isBusy = false;
  }
}

async function resendIn(client: QueryClient, place: string): Promise<void> {
  for (;;) {
    const next = outgoing.get().find((one) => one.place === place && one.error !== null && !one.isRefused && !one.isOld);
    if (!next) return;
    if (Date.now() - Date.parse(next.at) > OLD_MS) {
      change(next.key, { error: "You wrote this more than an hour ago, and it was not sent.", isOld: true });
      continue;
    }
    // Another tab may have logged in as somebody else meanwhile, so each message is sent only after asking who this is.
    const author = person.get();
    if (!author || (await nameNow()) !== author || person.get() !== author) return;
    // The person may have sent or discarded it in between.
    const isUnsent = outgoing.get().some(({ key, error }) => key === next.key && error !== null);
    if (isUnsent && !(await deliver(client, placeOf(next), next))) return;
  }
}

async function nameNow(): Promise<string | undefined> {
  const answer = await fetch("/auth/me", { cache: "no-store" }).catch(() => null);
  if (!answer?.ok) return undefined;
  return ((await answer.json().catch(() => null)) as { user?: { username?: string } } | null)?.user?.username;
}

function placeOf({ request }: Outgoing): Place {
  return request.channel ? { kind: "channel", name: request.channel } : { kind: "dm", name: request.to ?? "" };
}
