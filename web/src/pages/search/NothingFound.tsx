import { Button } from "../../ui/Button";
import { Empty } from "../../ui/States";
import type { Search } from "./address";
import { chipsOf } from "./query";

/** Says that nothing was found, and offers wider searches. */
export function NothingFound({ search, onSearch }: { search: Search; onSearch: (next: Search) => void }) {
  const hasFilters = chipsOf(search).length > 0;
  // A word without results may be the beginning of a longer one.
  const longer = search.q && /^[\p{L}\p{N}]+$/u.test(search.q) ? `${search.q}*` : null;
  return (
    <Empty title="No results">
      <p>Search covers only messages you can see.</p>
      <div className="mt-3 flex flex-wrap justify-center gap-2">
        {hasFilters && search.q ? <Button onClick={() => onSearch({ q: search.q })}>Search without filters</Button> : null}
        {longer ? <Button onClick={() => onSearch({ ...search, q: longer })}>Words that begin with {search.q}</Button> : null}
        <Button onClick={() => onSearch({})}>Start over</Button>
      </div>
    </Empty>
  );
}
