/** What the tabs of a browser tell each other about who is logged in. */
export type TabNews = { person: string } | { loggingOut: string } | { loggedOut: string };

const CHANNEL = "stoa.person";

/** One for both directions: a tab does not hear itself. */
let tabs: BroadcastChannel | null = null;
const open = () => (typeof BroadcastChannel === "undefined" ? null : (tabs ??= new BroadcastChannel(CHANNEL)));

export function tellTabs(news: TabNews): void {
  open()?.postMessage(news);
}

/** Listens to the other tabs. Returns how to stop. */
export function onTabNews(listen: (news: TabNews) => void): () => void {
  const tabs = open();
  if (!tabs) return () => undefined;
  tabs.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (typeof data === "object" && data !== null) listen(data as TabNews);
  };
  return () => {
    tabs.onmessage = null;
  };
}

/** Whether this tab is on its way to the login. */
export const leaving = { isNow: false };

/** Goes to the login for good: neither "back" nor a page that the browser has kept shows what was there. */
export function leave(): void {
  leaving.isNow = true;
  window.addEventListener("pageshow", ({ persisted }) => {
    if (persisted) location.reload();
  });
  location.replace("/login");
}
