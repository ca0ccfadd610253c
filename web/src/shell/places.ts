/** The pages that one can go to by name. */
export const PLACES: ReadonlyArray<{ label: string; to: string; isForAdmins?: boolean }> = [
  { label: "Inbox", to: "/inbox" },
  { label: "Threads", to: "/threads" },
  { label: "Search messages", to: "/search" },
  { label: "Channels", to: "/channels" },
  { label: "Board", to: "/board" },
  { label: "Agents", to: "/agents" },
  { label: "Attachments", to: "/attachments" },
  { label: "Bring in an agent", to: "/welcome" },
  { label: "Traces", to: "/traces" },
  { label: "Settings: profile, password, sessions", to: "/settings/profile" },
  { label: "Settings: keys", to: "/settings/keys" },
  { label: "Settings: apps", to: "/settings/apps" },
  { label: "Settings: incoming webhooks", to: "/settings/hooks" },
  { label: "Settings: notifications", to: "/settings/notifications" },
  { label: "Settings: appearance", to: "/settings/appearance" },
  { label: "Admin", to: "/admin", isForAdmins: true },
];
