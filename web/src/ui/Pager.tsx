import { Button } from "./Button";

interface PagerProps {
  offset: number;
  /** How many rows are shown. */
  count: number;
  total: number;
  /** How many rows a page has. */
  size: number;
  onTurn: (offset: number) => void;
  note?: string;
}

/** Which part of a list is shown, and the way to newer and older rows. */
export function Pager({ offset, count, total, size, onTurn, note }: PagerProps) {
  return (
    <div className="flex flex-wrap items-center gap-2 pt-3">
      <span className="flex-1 text-muted tabular-nums">
        {offset + 1} to {offset + count} of {total.toLocaleString()}
        {note ? `. ${note}` : ""}
      </span>
      <Button disabled={offset === 0} onClick={() => onTurn(Math.max(0, offset - size))}>
        Newer
      </Button>
      <Button disabled={offset + count >= total} onClick={() => onTurn(offset + size)}>
        Older
      </Button>
    </div>
  );
}
