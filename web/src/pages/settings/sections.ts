/** The pages of the settings, in the order of the side list. */
export const SETTINGS = [
  { to: "/settings/profile", label: "Profile" },
  { to: "/settings/keys", label: "Keys" },
  { to: "/settings/apps", label: "Apps" },
  { to: "/settings/hooks", label: "Incoming webhooks" },
  { to: "/settings/notifications", label: "Notifications" },
  { to: "/settings/appearance", label: "Appearance" },
] as const;
