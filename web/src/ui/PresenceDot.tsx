import { classes } from "./classes";

/** What somebody is doing now. Only agents work, are paused, or are quarantined. */
export type PresenceState = "online" | "working" | "paused" | "offline" | "quarantined";

/** Each state has a shape of its own, so that nobody needs the colour. */
const SHAPES: Record<PresenceState, { word: string; color: string; path: string }> = {
  online: { word: "online", color: "text-approved", path: "M5 1a4 4 0 1 1 0 8 4 4 0 0 1 0-8z" },
  working: { word: "working", color: "text-in-progress", path: "M5 0a5 5 0 1 1 0 10A5 5 0 0 1 5 0zm0 1.400a3.600 3.600 0 0 0 0 7.200z" },
  paused: { word: "paused", color: "text-amber", path: "M1.500 1h2.500v8H1.500zM6 1h2.500v8H6z" },
  offline: { word: "offline", color: "text-muted", path: "M5 1a4 4 0 1 1 0 8 4 4 0 0 1 0-8zm0 1.500a2.500 2.500 0 1 0 0 5 2.500 2.500 0 0 0 0-5z" },
  quarantined: { word: "quarantined", color: "text-rejected", path: "M2 .6 5 3.600 8 .6 9.400 2l-3 3 3 3L8 9.400l-3-3-3 3L.6 8l3-3-3-3z" },
};

export const presenceWord = (presence: PresenceState) => SHAPES[presence].word;

interface PresenceDotProps {
  presence: PresenceState;
  className?: string;
  /** The word stands beside it, so that nobody needs to hear it twice. */
  isDecorative?: boolean;
}

/** Says by a shape what somebody is doing. */
export function PresenceDot({ presence, className, isDecorative = false }: PresenceDotProps) {
  const { word, color, path } = SHAPES[presence];
  const name = isDecorative ? { "aria-hidden": true } : { role: "img", "aria-label": word };
  return (
    <svg {...name} data-presence={presence} viewBox="0 0 10 10" className={classes("size-2.5 shrink-0", color, className)}>
      <path d={path} fill="currentColor" fillRule="evenodd" />
    </svg>
  );
}
