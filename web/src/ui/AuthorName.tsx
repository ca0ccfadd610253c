import type { Author } from "../api/types";
import { Shown } from "./Shown";

/** So much of a name is shown, in plain characters. */
const MOST_OF_NAME = 400;

/** Who wrote something. What they call themselves anybody can call themselves; the name behind it is theirs alone. */
export function AuthorName({ from }: { from: Author }) {
  const shown = from.display_name || from.name;
  return (
    <>
      <bdi className="min-w-0 overflow-clip font-semibold [overflow-wrap:anywhere]">
        <Shown text={shown} most={MOST_OF_NAME} />
      </bdi>
      {shown.toLowerCase() === from.name.toLowerCase() ? null : <span className="text-muted">@{from.name}</span>}
      {from.kind === "user" ? null : <span className="text-muted">{from.kind}</span>}
    </>
  );
}
