/**
 * The hub's event stream: one connection for all tabs of a browser. On HTTP/1.1 a browser opens six connections to a server, so
 * six tabs with a stream each would leave none for the seventh.
 *
 * The tab that holds the lock has the connection and sends each event to the other tabs. Without locks, each tab has its own.
 */

import { EVENT_KINDS, type EventKind } from "../api/events";

export interface LiveEvent {
  name: EventKind;
  data: Record<string, unknown>;
}

export type Link = "connecting" | "live" | "offline";

type TabMessage = { event: LiveEvent; id: string } | { link: Link } | { asks: true };

const LOCK = "stoa.live";
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 15_000;

export interface Live {
  close(): void;
}

export function openLive(onEvent: (event: LiveEvent) => void, onLink: (link: Link) => void): Live {
  const ending = new AbortController();
  const others = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel(LOCK);
  let last = "";
  let link: Link = "connecting";
  const setLink = (next: Link) => {
    link = next;
    onLink(next);
  };
  let isLeading = false;

  if (others) {
    others.onmessage = ({ data }: MessageEvent<TabMessage>) => {
      if ("asks" in data) {
        if (isLeading) others.postMessage({ link } satisfies TabMessage);
      } else if ("link" in data) {
        if (!isLeading) setLink(data.link);
      } else if (!isLeading) {
        last = data.id || last;
        onEvent(data.event);
      }
    };
  }

  /** Keeps a connection open until the end. The browser itself reconnects where it can. */
  const lead = () =>
    new Promise<void>((resolve) => {
      // If the lock arrives after the end, nobody would release it.
      if (ending.signal.aborted) return resolve();
      isLeading = true;
      let source: EventSource | null = null;
      let timer: ReturnType<typeof setTimeout> | undefined;
      let wait = FIRST_PAUSE;
      const tell = (next: Link) => {
        setLink(next);
        others?.postMessage({ link: next } satisfies TabMessage);
      };
      const connect = () => {
        source = new EventSource(last ? `/api/events?since=${encodeURIComponent(last)}` : "/api/events");
        source.onopen = () => {
          wait = FIRST_PAUSE;
          tell("live");
        };
        source.onerror = () => {
          tell("offline");
          if (source?.readyState === EventSource.CLOSED) {
            timer = setTimeout(connect, wait);
            wait = Math.min(wait * 2, LONGEST_PAUSE);
          }
        };
        for (const name of EVENT_KINDS) {
          source.addEventListener(name, (raw) => {
            const message = raw as MessageEvent<string>;
            last = message.lastEventId || last;
            let data: Record<string, unknown> = {};
            try {
              data = JSON.parse(message.data) as Record<string, unknown>;
            } catch {
              // An event without readable data is still an event.
            }
            const event = { name, data };
            onEvent(event);
            others?.postMessage({ event, id: last } satisfies TabMessage);
          });
        }
      };
      connect();
      ending.signal.addEventListener("abort", () => {
        clearTimeout(timer);
        source?.close();
        resolve();
      });
    });

  if (navigator.locks && others) {
    navigator.locks.request(LOCK, { signal: ending.signal }, lead).catch(() => undefined);
    others.postMessage({ asks: true } satisfies TabMessage);
  } else {
    void lead();
  }
  return {
    close() {
      ending.abort();
      others?.close();
    },
  };
}
