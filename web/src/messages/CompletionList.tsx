import { Avatar } from "../ui/Avatar";
import { MOST_OF_LINE, Shown } from "../ui/Shown";
import { classes } from "../ui/classes";
import type { Completion } from "./useCompletions";

/** The completions of a name that is being typed. */
export function CompletionList({ id, completions, chosen, onTake }: {
  id: string;
  completions: readonly Completion[];
  chosen: number;
  onTake: (completion: Completion) => void;
}) {
  return (
    <ul
      id={id}
      role="listbox"
      aria-label="Completions"
      className="absolute bottom-full left-3 z-30 mb-1 w-96 max-w-[90vw] rounded-md border border-line bg-bg p-1 shadow-lg"
    >
      {completions.map((completion, at) => (
        <li
          key={completion.word}
          id={`${id}-${at}`}
          role="option"
          aria-selected={at === chosen}
          onMouseDown={(event) => {
            event.preventDefault();
            onTake(completion);
          }}
          className={classes(
            "flex h-8 cursor-pointer items-center gap-2 rounded-sm px-2",
            at === chosen && "bg-selected",
          )}
        >
          {completion.kind === "channel" ? (
            <span className="w-5 text-center text-muted">#</span>
          ) : (
            <Avatar name={completion.word} kind={completion.kind} displayName={completion.label} size="small" />
          )}
          <span className="font-medium">{completion.word}</span>
          <span className="truncate text-muted">
            <Shown text={completion.label} most={MOST_OF_LINE} />
          </span>
        </li>
      ))}
    </ul>
  );
}
