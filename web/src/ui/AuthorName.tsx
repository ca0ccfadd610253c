import type { Author } from "../api/types";

/** Who wrote something. What they call themselves anybody can call themselves; the name behind it is theirs alone. */
export function AuthorName({ from }: { from: Author }) {
  const shown = from.display_name || from.name;
  return (
    <>
      <span className="font-semibold">{shown}</span>
      {shown.toLowerCase() === from.name.toLowerCase() ? null : <span className="text-muted">@{from.name}</span>}
      {from.kind === "user" ? null : <span className="text-muted">{from.kind}</span>}
    </>
  );
}
