import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowUp } from "lucide-react";
import { useEffect, useId, useRef, useState } from "react";

import { api, ok } from "../api/client";
import { channelsQuery } from "../api/queries";
import { type Place, placeKey } from "../api/types";
import { load, save } from "../lib/storage";
import { Avatar } from "../ui/Avatar";
import { classes } from "../ui/classes";
import { complete, partialAt } from "./completion";
import { send } from "./outbox";

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
  const draftKey = `stoa.draft.${placeKey(place)}${replyTo ? `.${replyTo}` : ""}`;
  const [body, setBody] = useState(() => load(draftKey, ""));
  const [caret, setCaret] = useState(0);
  const [chosen, setChosen] = useState(0);
  const [isClosed, setClosed] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const listId = useId();

  useEffect(() => {
    setBody(load(draftKey, ""));
  }, [draftKey]);
  const change = (text: string) => {
    setBody(text);
    save(draftKey, text);
  };

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
    if (!body.trim()) return;
    send(client, place, { body, reply_to: replyTo });
    change("");
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
      className="relative m-4 mt-0 shrink-0 rounded-lg border border-control bg-bg focus-within:border-accent focus-within:ring-1 focus-within:ring-accent"
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
      <div className="flex items-center gap-2 px-3 pb-2">
        <span className="flex-1 text-xs text-muted">{body ? "Draft saved" : ""}</span>
        <span className="text-xs text-muted max-md:hidden">↵ send · ⇧↵ new line</span>
        <button
          type="submit"
          aria-label="Send"
          disabled={!body.trim()}
          className="inline-flex size-7 items-center justify-center rounded-md bg-accent text-on-accent disabled:bg-panel disabled:text-muted pointer-coarse:size-11"
        >
          <ArrowUp size={16} aria-hidden="true" />
        </button>
      </div>
    </form>
  );
}
