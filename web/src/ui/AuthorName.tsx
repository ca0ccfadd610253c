import type { Author } from "../api/types";
import { MOST_OF_LINE, Shown } from "./Shown";

/** Whether the directory knows somebody, so that a click on the name opens a card. */
export function hasProfile({ kind }: Pick<Author, "kind">): boolean {
  return kind === "user" || kind === "agent";
}

/** Who wrote something, and the way to their card. Everybody can choose any display name; a handle belongs to one. */
export function AuthorName({ from }: { from: Author }) {
  const shown = from.display_name || from.name;
  const name = (
    <bdi className="block min-w-0 overflow-clip font-semibold [overflow-wrap:anywhere]">
      <Shown text={shown} most={MOST_OF_LINE} />
    </bdi>
  );
  return (
    <>
      {hasProfile(from) ? (
        <button
          type="button"
          data-profile={from.name}
          aria-haspopup="dialog"
          title={`Profile of @${from.name}`}
          // Larger than its line, so that a finger hits it; what comes after it lies above it.
          className="-mt-1 min-w-0 pt-1 text-start hover:underline pointer-coarse:-mt-2 pointer-coarse:-mb-4 pointer-coarse:pt-2 pointer-coarse:pb-4"
        >
          {name}
        </button>
      ) : (
        name
      )}
      {shown.toLowerCase() === from.name.toLowerCase() ? null : <span className="text-muted">@{from.name}</span>}
      {from.kind === "user" ? null : <span className="text-muted">{from.kind}</span>}
    </>
  );
}
