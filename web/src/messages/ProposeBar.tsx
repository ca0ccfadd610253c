import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";

import { channelQuery } from "../api/queries";
import { useStore } from "../lib/store";
import { KindChoice } from "../workflow/KindChoice";
import { KIND_RULE, isKind, keepKind, lastKind } from "../workflow/kinds";
import { Switch } from "../ui/Switch";
import { notifiedWords } from "./notifiedWords";
import { wantedProposal } from "./wantedProposal";

interface ProposeBarProps {
  channel: string;
  /** What is written so far. */
  body: string;
  /** The kind of work, or null for talk. */
  kind: string | null;
  onKind: (kind: string | null) => void;
}

/** Proposes what is written as work. Without it, a message is talk. The browser remembers the kind for each channel. */
export default function ProposeBar({ channel, body, kind, onKind }: ProposeBarProps) {
  const isWanted = useStore(wantedProposal, (wanted) => wanted === channel);
  useEffect(() => {
    if (!isWanted) return;
    wantedProposal.set(null);
    onKind(lastKind(channel));
  }, [isWanted, channel, onKind]);
  const members = useQuery({ ...channelQuery(channel), enabled: kind !== null }).data?.members ?? [];
  const hint = `Goes to the board, where others can approve or claim it. ${notifiedWords(body, members)}`.trim();
  return (
    <>
      <Switch label="Propose" isOn={kind !== null} onChange={(isOn) => onKind(isOn ? lastKind(channel) : null)} />
      {kind === null ? null : (
        <>
          <KindChoice
            channel={channel}
            value={kind}
            aria-describedby="propose-hint"
            onChange={(next) => {
              keepKind(channel, next);
              onKind(next);
            }}
            className="h-7 w-36 rounded-md border border-control bg-bg px-2 aria-invalid:border-rejected pointer-coarse:h-11"
          />
          <span id="propose-hint" className="text-xs text-muted" role="status">
            {isKind(kind) ? hint : kind === "" ? "Name the kind of work." : KIND_RULE}
          </span>
        </>
      )}
    </>
  );
}
