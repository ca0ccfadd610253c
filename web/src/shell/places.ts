/** The pages that one can go to by name. */
export const PLACES: ReadonlyArray<{ label: string; to: string; isForAdmins?: boolean }> = [
  { label: "Inbox", to: "/inbox" },
  { label: "Threads", to: "/threads" },
  { label: "Channels", to: "/channels" },
  { label: "Agents", to: "/agents" },
  { label: "Bring in an agent", to: "/welcome" },
];
