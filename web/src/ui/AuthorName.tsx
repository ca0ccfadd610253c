import type { Author } from "../api/types";
import { MOST_OF_LINE, Shown } from "./Shown";

/** Who wrote something. What they call themselves anybody can call themselves; the name behind it is theirs alone. */
export function AuthorName({ from }: { from: Author }) {
  const shown = from.display_name || from.name;
  return (
    <>
      <bdi className="min-w-0 overflow-clip font-semibold [overflow-wrap:anywhere]">
        <Shown text={shown} most={MOST_OF_LINE} />
      </bdi>
      {shown.toLowerCase() === from.name.toLowerCase() ? null : <span className="text-muted">@{from.name}</span>}
      {from.kind === "user" ? null : <span className="text-muted">{from.kind}</span>}
    </>
  );
}
