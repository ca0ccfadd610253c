import { useQuery } from "@tanstack/react-query";

import { meQuery, partnersQuery } from "../../api/queries";
import type { Author } from "../../api/types";

/** The possible authors of a message: first the authors of the results, then the partners in direct messages. */
export function usePeople(authors: readonly Author[]): Author[] {
  const me = useQuery(meQuery).data;
  const partners = useQuery(partnersQuery).data ?? [];
  const all: Author[] = [
    ...authors,
    ...partners,
    ...(me?.agents ?? []).map(({ name, display_name }) => ({ name, display_name, kind: "agent" as const })),
    ...(me ? [{ name: me.user.username, display_name: me.user.display_name, kind: "user" as const }] : []),
  ];
  const seen = new Set<string>();
  return all.filter(({ name }) => !seen.has(name) && seen.add(name));
}
