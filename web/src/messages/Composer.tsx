import { useQueryClient } from "@tanstack/react-query";
import { Suspense, lazy, useId, useRef, useState } from "react";

import type { Place } from "../api/types";
import { useStore } from "../lib/store";
import { lazyPart } from "../ui/lazyPart";
import { isKind } from "../workflow/kinds";
import { ComposerFoot } from "./ComposerFoot";
import { takeFiles } from "./DropZone";
import { complete, partialAt } from "./completion";
import { draftFiles, draftKey, setFiles } from "./drafts";
import { send } from "./outbox";
import { type Completion, useCompletions } from "./useCompletions";
import { useDraftText } from "./useDraftText";

const UploadTray = lazy(() => import("./UploadTray"));
/** It is loaded when the page is idle, so it is there before anybody has typed a name. */
const CompletionList = lazyPart(() => import("./CompletionList").then((part) => part.CompletionList));

interface ComposerProps {
  place: Place;
  replyTo?: number;
  placeholder: string;
  autoFocus?: boolean;
  /** Whether what is written here can be proposed as work. */
  hasWork?: boolean;
}

/** Writes a message. Its text is kept as a draft, even when the session or the connection ends. */
export function Composer({ place, replyTo, placeholder, autoFocus, hasWork }: ComposerProps) {
  const client = useQueryClient();
  const draft = draftKey(place, replyTo);
  const { body, change, sent } = useDraftText(draft);
  const [caret, setCaret] = useState(0);
  const [chosen, setChosen] = useState(0);
  const [isClosed, setClosed] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const listId = useId();
  const files = useStore(draftFiles, (all) => all[draft]) ?? [];
  const ready = files.flatMap(({ attachment }) => (attachment ? [attachment] : []));
  const isUploading = files.some(({ attachment, error }) => attachment === null && error === null);
  const [proposal, setProposal] = useState<string | null>(null);
  const canSend = !isUploading && (proposal === null || isKind(proposal)) && (body.trim() !== "" || ready.length > 0);

  const partial = isClosed ? null : partialAt(body, caret);
  const choices = useCompletions(partial);
  const isOpen = partial !== null && choices.length > 0;
  const take = (choice: Completion | undefined) => {
    if (!partial || !choice) return;
    const done = complete(body, caret, partial, choice.word);
    change(done.text);
    setCaret(done.caret);
    requestAnimationFrame(() => area.current?.setSelectionRange(done.caret, done.caret));
  };
  const submit = () => {
    if (!canSend) return;
    const sums = ready.map(({ sha256 }) => sha256);
    send(client, place, { body: body.trim() ? body : "", reply_to: replyTo, attachments: sums, action_type: proposal ?? undefined }, ready);
    sent();
    setProposal(null);
    // Files that failed to upload were not sent, and stay until the person removes them.
    setFiles(draft, (now) => now.filter(({ attachment }) => attachment === null));
    setCaret(0);
    area.current?.focus();
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (isOpen) {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        const step = event.key === "ArrowDown" ? 1 : -1;
        setChosen((now) => (now + step + choices.length) % choices.length);
        return;
      }
      if (event.key === "Enter" || event.key === "Tab") {
        event.preventDefault();
        take(choices[chosen] ?? choices[0]);
        return;
      }
      if (event.key === "Escape") {
        event.preventDefault();
        setClosed(true);
        return;
      }
    }
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      submit();
    }
  };

  return (
    <form
      className="relative mx-4 mt-auto mb-4 shrink-0 rounded-lg border border-control bg-bg focus-within:border-accent focus-within:ring-1 focus-within:ring-accent"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {isOpen ? (
        <CompletionList id={listId} completions={choices} chosen={chosen} onTake={take} />
      ) : null}
      <textarea
        ref={area}
        dir="auto"
        value={body}
        rows={Math.min(10, Math.max(1, body.split("\n").length))}
        placeholder={placeholder}
        aria-label={placeholder}
        autoFocus={autoFocus}
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={isOpen ? listId : undefined}
        aria-activedescendant={isOpen ? `${listId}-${chosen}` : undefined}
        onChange={(event) => {
          change(event.target.value);
          setCaret(event.target.selectionStart);
          setChosen(0);
          setClosed(false);
        }}
        onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
        onKeyDown={onKeyDown}
        className="block w-full resize-none bg-transparent px-3 pt-2.5 outline-none placeholder:text-muted"
      />
      {files.length > 0 ? (
        <Suspense>
          <UploadTray draft={draft} files={files} />
        </Suspense>
      ) : null}
      <ComposerFoot
        place={place}
        body={body}
        hasWork={hasWork}
        proposal={proposal}
        onProposal={setProposal}
        onFiles={(chosen) => {
          takeFiles(draft, chosen);
          area.current?.focus();
        }}
        status={isUploading ? "Uploading…" : body || ready.length ? "Draft saved" : ""}
        canSend={canSend}
      />
    </form>
  );
}
