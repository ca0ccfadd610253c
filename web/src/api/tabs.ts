/** What the tabs of a browser tell each other about who is logged in. */
export type TabNews = { person: string } | { loggingOut: string } | { loggedOut: string };

const CHANNEL = "stoa.person";

export function tellTabs(news: TabNews): void {
  if (typeof BroadcastChannel === "undefined") return;
  const tabs = new BroadcastChannel(CHANNEL);
  tabs.postMessage(news);
  tabs.close();
}

/** Listens to the other tabs. Returns how to stop. */
export function onTabNews(listen: (news: TabNews) => void): () => void {
  if (typeof BroadcastChannel === "undefined") return () => undefined;
  const tabs = new BroadcastChannel(CHANNEL);
  tabs.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (typeof data === "object" && data !== null) listen(data as TabNews);
  };
  return () => tabs.close();
}

/** Goes to the login for good: neither "back" nor a page that the browser has kept shows what was there. */
export function leave(): void {
  window.addEventListener("pageshow", ({ persisted }) => {
    if (persisted) location.reload();
  });
  location.replace("/login");
}
