/** How many messages were found, and how many of them are shown. */
export function HitCount({ total, isCapped, shown }: { total: number; isCapped: boolean; shown: number }) {
  return (
    <>
      <strong>
        {isCapped ? "More than " : ""}
        {total.toLocaleString()} {total === 1 ? "message" : "messages"}
      </strong>
      {shown ? <span className="text-muted"> · showing 1 to {shown.toLocaleString()}, newest first</span> : null}
    </>
  );
}
