import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowUp, Paperclip } from "lucide-react";
import { Suspense, lazy, useEffect, useId, useRef, useState } from "react";

import { api, ok } from "../api/client";
import { channelsQuery } from "../api/queries";
import type { Place } from "../api/types";
import { load, save } from "../lib/storage";
import { useStore } from "../lib/store";
import { Avatar } from "../ui/Avatar";
import { IconButton } from "../ui/Button";
import { classes } from "../ui/classes";
import { takeFiles } from "./DropZone";
import { complete, partialAt } from "./completion";
import { draftFiles, draftKey, filesOf, returned, setFiles } from "./drafts";
import { send } from "./outbox";

const UploadTray = lazy(() => import("./UploadTray"));

interface ComposerProps {
  place: Place;
  replyTo?: number;
  placeholder: string;
  autoFocus?: boolean;
}

interface Choice {
  word: string;
  kind: "user" | "agent" | "system" | "machine" | "channel";
  label: string;
}

/** Writes a message. What is typed is kept as a draft, also when the session or the connection ends. */
export function Composer({ place, replyTo, placeholder, autoFocus }: ComposerProps) {
  const client = useQueryClient();
  const draft = draftKey(place, replyTo);
  const [body, setBody] = useState(() => load(draft, ""));
  const [caret, setCaret] = useState(0);
  const [chosen, setChosen] = useState(0);
  const [isClosed, setClosed] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const chooser = useRef<HTMLInputElement>(null);
  const listId = useId();
  const times = useStore(returned);
  const files = useStore(draftFiles, (all) => all[draft]) ?? [];
  const ready = files.flatMap(({ attachment }) => (attachment ? [attachment] : []));
  const isUploading = files.some(({ attachment, error }) => attachment === null && error === null);
  const canSend = !isUploading && (body.trim() !== "" || ready.length > 0);

  useEffect(() => {
    setBody(load(draft, ""));
    filesOf(draft);
  }, [draft, times]);
  const change = (text: string) => {
    setBody(text);
    save(draft, text);
  };
  useEffect(() => {
    // The same draft in another tab, sent there: here it would be sent a second time.
    const onStorage = ({ key, oldValue, newValue }: StorageEvent) => {
      if (key === draft && newValue === null) setBody((now) => (JSON.stringify(now) === oldValue ? "" : now));
    };
    window.addEventListener("storage", onStorage);
    return () => window.removeEventListener("storage", onStorage);
  }, [draft]);

  const partial = isClosed ? null : partialAt(body, caret);
  const names = useQuery({
    queryKey: ["directory", partial?.text ?? ""],
    queryFn: () => ok(api.GET("/api/directory", { params: { query: { q: partial?.text ?? "", limit: 8 } } })),
    enabled: partial?.kind === "name",
    staleTime: 30_000,
    placeholderData: (before) => before,
  });
  const channels = useQuery({ ...channelsQuery, enabled: partial?.kind === "channel" });
  const choices: Choice[] =
    partial?.kind === "name"
      ? (names.data?.items ?? []).map((card) => ({ word: card.name, kind: card.kind, label: card.display_name }))
      : partial?.kind === "channel"
        ? (channels.data ?? [])
            .filter((channel) => channel.name.startsWith(partial.text))
            .slice(0, 8)
            .map((channel) => ({ word: channel.name, kind: "channel" as const, label: channel.topic }))
        : [];
  const isOpen = partial !== null && choices.length > 0;

  const take = (choice: Choice | undefined) => {
    if (!partial || !choice) return;
    const done = complete(body, caret, partial, choice.word);
    change(done.text);
    setCaret(done.caret);
    requestAnimationFrame(() => area.current?.setSelectionRange(done.caret, done.caret));
  };
  const submit = () => {
    if (!canSend) return;
    const sums = ready.map(({ sha256 }) => sha256);
    send(client, place, { body: body.trim() ? body : "", reply_to: replyTo, attachments: sums }, ready);
    setBody("");
    // What another tab keeps here by now is not what was sent.
    if (load(draft, "") === body) save(draft, "");
    // What could not be uploaded has not been sent, and stays until somebody takes it away.
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
        <ul
          id={listId}
          role="listbox"
          aria-label="Completions"
          className="absolute bottom-full left-3 z-30 mb-1 w-96 max-w-[90vw] rounded-md border border-line bg-bg p-1 shadow-lg"
        >
          {choices.map((choice, at) => (
            <li
              key={choice.word}
              id={`${listId}-${at}`}
              role="option"
              aria-selected={at === chosen}
              onMouseDown={(event) => {
                event.preventDefault();
                take(choice);
              }}
              className={classes(
                "flex h-8 cursor-pointer items-center gap-2 rounded-sm px-2",
                at === chosen && "bg-selected",
              )}
            >
              {choice.kind === "channel" ? (
                <span className="w-5 text-center text-muted">#</span>
              ) : (
                <Avatar name={choice.word} kind={choice.kind} displayName={choice.label} size="small" />
              )}
              <span className="font-medium">{choice.word}</span>
              <span className="truncate text-muted">{choice.label}</span>
            </li>
          ))}
        </ul>
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
      <div className="flex items-center gap-2 px-2 pb-2">
        <input
          ref={chooser}
          type="file"
          multiple
          hidden
          onChange={(event) => {
            takeFiles(draft, [...(event.target.files ?? [])]);
            // So that the same file can be chosen again.
            event.target.value = "";
            area.current?.focus();
          }}
        />
        <IconButton label="Attach files" onClick={() => chooser.current?.click()}>
          <Paperclip size={16} />
        </IconButton>
        <span className="flex-1 text-xs text-muted" role="status">
          {isUploading ? "Uploading… You can send it when that is done" : body || ready.length ? "Draft saved" : ""}
        </span>
        <span className="text-xs text-muted max-md:hidden">↵ send · ⇧↵ new line</span>
        <button
          type="submit"
          aria-label="Send"
          disabled={!canSend}
          className="inline-flex size-7 items-center justify-center rounded-md bg-accent text-on-accent disabled:bg-panel disabled:text-muted pointer-coarse:size-11"
        >
          <ArrowUp size={16} aria-hidden="true" />
        </button>
      </div>
    </form>
  );
}
