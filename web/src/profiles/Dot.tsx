import type { PresenceState } from "../api/directory";

/** Presence as a shape: half circle working, full online, ring offline, bars paused. */
export function PresenceDot({ presence }: { presence: PresenceState }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 10 10" className={`size-2.5 shrink-0 ${COLOURS[presence]}`}>
      {presence === "paused" ? (
        <path d="M2 1h2v8H2zM6 1h2v8H6z" fill="currentColor" />
      ) : (
        <circle cx="5" cy="5" r="4" fill={presence === "online" ? "currentColor" : "none"} stroke="currentColor" strokeWidth="1.5" />
      )}
      {presence === "working" ? <path d="M5 1a4 4 0 0 1 0 8z" fill="currentColor" /> : null}
    </svg>
  );
}

const COLOURS: Record<PresenceState, string> = {
  online: "text-approved",
  working: "text-in-progress",
  paused: "text-amber",
  offline: "text-muted",
};
