import { ArrowUp } from "lucide-react";
import { Suspense, lazy } from "react";

import type { Place } from "../api/types";
import { classes } from "../ui/classes";
import { AttachButton } from "./AttachButton";

const ProposeBar = lazy(() => import("./ProposeBar"));

interface ComposerFootProps {
  place: Place;
  /** What is written so far. */
  body: string;
  /** Whether what is written here can be proposed as work. */
  hasWork: boolean | undefined;
  /** The kind of work that the message is proposed as, or null if it is talk. */
  proposal: string | null;
  onProposal: (kind: string | null) => void;
  onFiles: (files: File[]) => void;
  status: string;
  canSend: boolean;
}

/** Below the text of a message: what can be added to it, and the button that sends it. */
export function ComposerFoot({ place, body, hasWork, proposal, onProposal, onFiles, status, canSend }: ComposerFootProps) {
  const isProposal = proposal !== null;
  return (
    <div className="flex flex-wrap items-center gap-2 px-2 pb-2">
      <AttachButton onChoose={onFiles} />
      {hasWork ? (
        <Suspense>
          <ProposeBar channel={place.name} body={body} kind={proposal} onKind={onProposal} />
        </Suspense>
      ) : null}
      <span className={classes("flex-1 text-xs text-muted", isProposal && "max-md:hidden")} role="status">
        {status}
      </span>
      <span className={classes("text-xs text-muted max-md:hidden touch:hidden", isProposal && "max-lg:hidden")}>
        ↵ {isProposal ? "propose" : "send"} · ⇧↵ new line
      </span>
      <button
        type="submit"
        aria-label={isProposal ? undefined : "Send"}
        disabled={!canSend}
        className={classes(
          "ml-auto inline-flex h-7 items-center justify-center gap-1 rounded-md bg-accent font-medium text-on-accent disabled:bg-panel disabled:text-muted pointer-coarse:h-11",
          isProposal ? "px-3" : "w-7 pointer-coarse:w-11",
        )}
      >
        <ArrowUp size={16} aria-hidden="true" />
        {isProposal ? "Propose" : null}
      </button>
    </div>
  );
}
