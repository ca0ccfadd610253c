import { Button } from "./Button";

interface Pages {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => Promise<unknown>;
}

/** Loads the next page of a list that has the newest first, if there is one. */
export function ShowOlder({ list }: { list: Pages }) {
  return list.hasNextPage ? (
    <Button className="self-start" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
      Show older
    </Button>
  ) : null;
}
