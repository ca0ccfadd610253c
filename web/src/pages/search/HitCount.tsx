interface Props {
  total: number;
  isCapped: boolean;
  shown: number;
  /** Whether some of the newest messages could not be searched yet. */
  isIndexing: boolean;
}

/** How many messages were found, and how many of them are shown. */
export function HitCount({ total, isCapped, shown, isIndexing }: Props) {
  return (
    <>
      <strong>
        {isCapped ? "More than " : ""}
        {total.toLocaleString()} {total === 1 ? "message" : "messages"}
      </strong>
      {shown ? <span className="text-muted"> · showing 1 to {shown.toLocaleString()}, newest first</span> : null}
      {isIndexing ? <span className="text-muted"> · Some new messages are still being indexed. Retry in a moment.</span> : null}
    </>
  );
}
