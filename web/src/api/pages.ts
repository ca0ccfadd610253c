/** All items of a list, page by page. */
export async function everyPage<Item>(
  load: (cursor: string | undefined) => Promise<{ items: Item[]; next_cursor?: string | null }>,
): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  do {
    const page = await load(cursor);
    items.push(...page.items);
    cursor = page.next_cursor ?? undefined;
  } while (cursor);
  return items;
}
