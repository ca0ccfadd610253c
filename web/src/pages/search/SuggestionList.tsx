import { Avatar } from "../../ui/Avatar";
import { classes } from "../../ui/classes";
import type { Suggestion } from "./suggestions";

/** The completions of what is being typed. */
export function SuggestionList({ id, suggestions, current, onTake }: {
  id: string;
  suggestions: readonly Suggestion[];
  current: number;
  onTake: (suggestion: Suggestion) => void;
}) {
  return (
    <ul
      id={id}
      role="listbox"
      aria-label="Completions"
      className="absolute top-full left-3 z-30 mt-1 w-96 max-w-[calc(100%-1.5rem)] rounded-md border border-line bg-bg p-1 shadow-lg"
    >
      {suggestions.map((suggestion, at) => (
        <li
          key={suggestion.word}
          id={`${id}-${at}`}
          role="option"
          aria-selected={at === current}
          onMouseDown={(event) => {
            event.preventDefault();
            onTake(suggestion);
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
  );
}
