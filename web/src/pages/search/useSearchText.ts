import { type KeyboardEvent, type RefObject, useEffect, useState } from "react";

import type { Filter, Search } from "./address";
import { chipsOf, hasFilters, partialAt, withText } from "./query";
import { type Suggestion, useSuggestions } from "./suggestions";

interface SearchText {
  search: Search;
  onSearch: (next: Search) => void;
  /** Moves to the results, with the keyboard. */
  onDown: () => void;
  input: RefObject<HTMLInputElement | null>;
}

/** The text in the search field: its suggestions, and the filters that it becomes. */
export function useSearchText({ search, onSearch, onDown, input }: SearchText) {
  const [text, setText] = useState(search.q ?? "");
  const [caret, setCaret] = useState(text.length);
  const [chosen, setChosen] = useState<number | null>(null);
  const [isOpen, setOpen] = useState(false);

  const q = search.q ?? "";
  useEffect(() => {
    // Going back shows the earlier search; typing is not disturbed.
    setText((now) => (now.trim() === q ? now : q));
  }, [q]);

  const partial = isOpen ? partialAt(text, caret) : null;
  const suggestions = useSuggestions(partial);
  const hasList = partial !== null && suggestions.length > 0;
  // An operator may also be a word to search for, so it is completed only when the person chooses it.
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
    // A list that is excluded as a whole already excludes its last name.
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
  const type = (typed: string, selectionStart: number | null) => {
    setChosen(null);
    const end = selectionStart ?? typed.length;
    const head = typed.slice(0, end);
    // A blank ends an operator.
    if (typed.length > text.length && /\s$/.test(head) && hasFilters(head)) return applyHead(head, typed.slice(end));
    setText(typed);
    setCaret(end);
    setOpen(true);
  };
  const clear = () => {
    setText("");
    onSearch({});
    input.current?.focus();
  };
  return { text, suggestions, hasList, current, apply, take, remove, edit, type, clear, onKeyDown, setCaret, closeList: () => setOpen(false) };
}
