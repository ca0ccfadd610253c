import { Search as SearchIcon, X } from "lucide-react";
import { Fragment, type KeyboardEvent, useEffect, useId, useRef, useState } from "react";

import { SEARCH_FIELD } from "../../shell/shortcuts";
import { Avatar } from "../../ui/Avatar";
import { IconButton } from "../../ui/Button";
import { classes } from "../../ui/classes";
import type { Filter, Search } from "./address";
import { chipsOf, hasFilters, isBlank, isList, itemsOf, partialAt, withText } from "./query";
import { type Suggestion, useSuggestions } from "./suggestions";

interface SearchFieldProps {
  search: Search;
  onSearch: (next: Search) => void;
  /** Filters that the hub does not understand. */
  faults: readonly string[];
  /** To the results, with the keyboard. */
  onDown: () => void;
}

/** What is looked for: words as text, everything else as chips. An operator that is typed becomes a chip. */
export function SearchField({ search, onSearch, faults, onDown }: SearchFieldProps) {
  const [text, setText] = useState(search.q ?? "");
  const [caret, setCaret] = useState(text.length);
  const [chosen, setChosen] = useState<number | null>(null);
  const [isOpen, setOpen] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const listId = useId();

  const q = search.q ?? "";
  useEffect(() => {
    // Whoever goes back sees what they looked for; whoever types is left alone.
    setText((now) => (now.trim() === q ? now : q));
  }, [q]);

  const partial = isOpen ? partialAt(text, caret) : null;
  const suggestions = useSuggestions(partial);
  const hasList = partial !== null && suggestions.length > 0;
  // An operator may also be a word that is looked for, so it is only taken by whoever chooses it.
  const current = chosen ?? (partial?.kind === "value" ? 0 : -1);

  const apply = (typed: string) => {
    const next = withText(search, typed);
    setText(next.q ?? "");
    setOpen(false);
    onSearch(next);
  };
  const put = (next: string, at: number) => {
    setText(next);
    setCaret(at);
    requestAnimationFrame(() => {
      input.current?.focus();
      input.current?.setSelectionRange(at, at);
    });
  };
  const applyHead = (head: string, tail: string) => {
    const next = withText(search, head);
    const kept = next.q ? `${next.q} ` : "";
    setOpen(false);
    put(kept + tail, kept.length);
    onSearch({ ...next, q: (kept + tail).trim() || undefined });
  };
  const take = (suggestion: Suggestion | undefined) => {
    if (!partial || !suggestion) return;
    const [head, tail] = [text.slice(0, partial.start), text.slice(caret)];
    if (partial.kind === "operator") {
      const done = `${head}${partial.isOut ? "-" : ""}${suggestion.word}`;
      setChosen(null);
      return put(done + tail.trimStart(), done.length);
    }
    // A list that is excluded as a whole excludes its last name already.
    const isWhole = partial.before.startsWith("-");
    apply(`${head}${partial.before}${partial.isOut !== isWhole ? "-" : ""}${suggestion.word} ${tail}`);
    input.current?.focus();
  };
  const remove = (filter: Filter) => {
    onSearch({ ...search, [filter]: undefined });
    input.current?.focus();
  };
  const edit = (filter: Filter) => {
    const typed = `${filter}:${search[filter] ?? ""}`;
    onSearch({ ...search, [filter]: undefined });
    put(`${typed}${text ? ` ${text}` : ""}`, typed.length);
    setOpen(true);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing) return;
    if (hasList && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      setChosen((Math.max(current, step === 1 ? -1 : 0) + step + suggestions.length) % suggestions.length);
    } else if (hasList && current >= 0 && (event.key === "Enter" || event.key === "Tab")) {
      event.preventDefault();
      take(suggestions[current]);
    } else if (hasList && event.key === "Escape") {
      event.preventDefault();
      setOpen(false);
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      onDown();
    } else if (event.key === "Backspace" && event.currentTarget.selectionEnd === 0) {
      const last = chipsOf(search).at(-1);
      if (!last) return;
      event.preventDefault();
      edit(last.filter);
    }
  };

  return (
    <form
      role="search"
      aria-label="Messages"
      className="relative flex min-h-10 min-w-0 flex-1 items-start gap-2 rounded-lg border border-control bg-bg pr-1 pl-3 focus-within:border-accent focus-within:ring-1 focus-within:ring-accent"
      onSubmit={(event) => {
        event.preventDefault();
        apply(text);
      }}
    >
      <SearchIcon size={16} aria-hidden="true" className="mt-3 shrink-0 text-muted pointer-coarse:mt-3.5" />
      <div className="flex min-w-0 flex-1 flex-wrap items-center gap-1.5 py-1.5 pointer-coarse:py-0">
        {/* Where there is little room, they are in a row of their own, which scrolls. */}
        <div className="contents max-md:order-last max-md:flex max-md:w-full max-md:gap-1.5 max-md:overflow-x-auto">
          {chipsOf(search).map(({ filter, value }) => (
            <Chip
              key={filter}
              filter={filter}
              value={value}
              isWrong={faults.includes(filter)}
              onEdit={() => edit(filter)}
              onRemove={() => remove(filter)}
            />
          ))}
        </div>
        <input
          ref={input}
          id={SEARCH_FIELD}
          role="combobox"
          aria-label="Search messages"
          aria-autocomplete="list"
          aria-expanded={hasList}
          aria-controls={hasList ? listId : undefined}
          aria-activedescendant={hasList && current >= 0 ? `${listId}-${current}` : undefined}
          aria-invalid={faults.includes("q") || undefined}
          autoFocus={isBlank(search)}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          enterKeyHint="search"
          maxLength={1000}
          placeholder={isBlank(search) ? "Words, “a phrase”, channel:name, agent:name" : undefined}
          value={text}
          onChange={(event) => {
            const typed = event.target.value;
            setChosen(null);
            const end = event.target.selectionStart ?? typed.length;
            const head = typed.slice(0, end);
            // An operator is typed to its end when a blank follows.
            if (typed.length > text.length && /\s$/.test(head) && hasFilters(head)) return applyHead(head, typed.slice(end));
            setText(typed);
            setCaret(end);
            setOpen(true);
          }}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart ?? 0)}
          onBlur={() => setOpen(false)}
          onKeyDown={onKeyDown}
          className="h-7 min-w-40 flex-1 bg-transparent outline-none placeholder:text-muted pointer-coarse:h-11"
        />
      </div>
      {isBlank(search) && !text ? null : (
        <IconButton
          label="Clear"
          className="mt-1.5 pointer-coarse:mt-0"
          onClick={() => {
            setText("");
            onSearch({});
            input.current?.focus();
          }}
        >
          <X size={16} />
        </IconButton>
      )}
      {hasList ? (
        <ul
          id={listId}
          role="listbox"
          aria-label="Completions"
          className="absolute top-full left-3 z-30 mt-1 w-96 max-w-[calc(100%-1.5rem)] rounded-md border border-line bg-bg p-1 shadow-lg"
        >
          {suggestions.map((suggestion, at) => (
            <li
              key={suggestion.word}
              id={`${listId}-${at}`}
              role="option"
              aria-selected={at === current}
              onMouseDown={(event) => {
                event.preventDefault();
                take(suggestion);
              }}
              className={classes(
                "flex h-8 cursor-pointer items-center gap-2 rounded-sm px-2 pointer-coarse:h-11",
                at === current && "bg-selected",
              )}
            >
              {suggestion.kind === "channel" ? <span className="w-5 text-center text-muted">#</span> : null}
              {suggestion.kind && suggestion.kind !== "channel" ? (
                <Avatar name={suggestion.word} kind={suggestion.kind} displayName={suggestion.about} size="small" />
              ) : null}
              <span className="font-medium whitespace-nowrap">{suggestion.word}</span>
              <span className="truncate text-muted">{suggestion.about}</span>
            </li>
          ))}
        </ul>
      ) : null}
    </form>
  );
}

function Chip({ filter, value, isWrong, onEdit, onRemove }: {
  filter: Filter;
  value: string;
  isWrong: boolean;
  onEdit: () => void;
  onRemove: () => void;
}) {
  return (
    <span
      className={classes(
        "inline-flex items-center rounded-md border bg-panel max-md:shrink-0 max-md:whitespace-nowrap md:max-w-full md:min-w-0",
        isWrong ? "border-rejected" : "border-line",
      )}
    >
      <button type="button" title="Change it" onClick={onEdit} className="min-h-6 min-w-0 py-0.5 pl-2 text-left break-words pointer-coarse:min-h-11">
        <span className="text-muted">{filter}:</span>
        {isList(filter)
          ? itemsOf(value).map((item, at) => (
              <Fragment key={item.name}>
                {at ? "," : ""}
                {item.isOut ? <span className="text-rejected">-{item.name}</span> : item.name}
              </Fragment>
            ))
          : value}
      </button>
      <button
        type="button"
        aria-label={`Remove ${filter}`}
        title={`Remove ${filter}`}
        onClick={onRemove}
        className="inline-flex size-6 shrink-0 items-center justify-center text-muted hover:text-fg pointer-coarse:size-11"
      >
        <X size={14} aria-hidden="true" />
      </button>
    </span>
  );
}
