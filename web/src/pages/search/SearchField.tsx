import { Search as SearchIcon, X } from "lucide-react";
import { useId, useRef } from "react";

import { SEARCH_FIELD } from "../../shell/shortcuts";
import { IconButton } from "../../ui/Button";
import { FilterChip } from "./FilterChip";
import { SuggestionList } from "./SuggestionList";
import type { Search } from "./address";
import { chipsOf, isBlank } from "./query";
import { useSearchText } from "./useSearchText";

interface SearchFieldProps {
  search: Search;
  onSearch: (next: Search) => void;
  /** Filters that the hub does not understand. */
  faults: readonly string[];
  /** Moves to the results, with the keyboard. */
  onDown: () => void;
}

/** The search: words as text, filters as chips. A typed operator becomes a chip. */
export function SearchField({ search, onSearch, faults, onDown }: SearchFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  const listId = useId();
  const { text, suggestions, hasList, current, ...field } = useSearchText({ search, onSearch, onDown, input });
  return (
    <form
      role="search"
      aria-label="Messages"
      className="relative flex min-h-10 min-w-0 flex-1 items-start gap-2 rounded-lg border border-control bg-bg pr-1 pl-3 focus-within:border-accent focus-within:ring-1 focus-within:ring-accent"
      onSubmit={(event) => {
        event.preventDefault();
        field.apply(text);
      }}
    >
      <SearchIcon size={16} aria-hidden="true" className="mt-3 shrink-0 text-muted pointer-coarse:mt-3.5" />
      <div className="flex min-w-0 flex-1 flex-wrap items-center gap-1.5 py-1.5 pointer-coarse:py-0">
        {/* On a narrow screen the chips have a row of their own, which scrolls. */}
        <div className="contents max-md:order-last max-md:flex max-md:w-full max-md:gap-1.5 max-md:overflow-x-auto">
          {chipsOf(search).map(({ filter, value }) => (
            <FilterChip
              key={filter}
              filter={filter}
              value={value}
              isWrong={faults.includes(filter)}
              onEdit={() => field.edit(filter)}
              onRemove={() => field.remove(filter)}
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
          onChange={(event) => field.type(event.target.value, event.target.selectionStart)}
          onSelect={(event) => field.setCaret(event.currentTarget.selectionStart ?? 0)}
          onBlur={field.closeList}
          onKeyDown={field.onKeyDown}
          className="h-7 min-w-40 flex-1 bg-transparent outline-none placeholder:text-muted pointer-coarse:h-11"
        />
      </div>
      {isBlank(search) && !text ? null : (
        <IconButton
          label="Clear"
          className="mt-1.5 pointer-coarse:mt-0"
          onClick={field.clear}
        >
          <X size={16} />
        </IconButton>
      )}
      {hasList ? (
        <SuggestionList id={listId} suggestions={suggestions} current={current} onTake={field.take} />
      ) : null}
    </form>
  );
}
