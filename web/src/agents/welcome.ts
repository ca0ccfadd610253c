/** The steps by which an agent comes in, in order. From `connect` on there is an agent, and the step is in the address. */
export const STEPS = ["name", "archetype", "channels", "connect", "message"] as const;
export type WelcomeStep = (typeof STEPS)[number];

export const STEP_TITLES: Record<WelcomeStep, string> = {
  name: "Name",
  archetype: "Type",
  channels: "Channels",
  connect: "Connect",
  message: "First message",
};

/** A name that the hub takes, made of what somebody typed: `My Scout` becomes `my-scout`. */
export function toName(typed: string): string {
  return typed
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9_\s-]/g, "")
    .trim()
    .replace(/[\s-]+/g, "-")
    .replace(/^[_-]+/, "")
    .slice(0, 64);
}
