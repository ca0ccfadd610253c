import { MOST_SHOWN } from "../lib/cut";
import type { Row } from "./rows";

/** The assumed height of a row until it is measured. A long text is high, and drawing many of them takes long. */
export function sizeOf(row: Row | undefined): number {
  return row?.kind === "message" ? 64 + 20 * Math.floor(Math.min(row.message.body.length, MOST_SHOWN) / 100) : 32;
}

/** About so much of the window is above and below a conversation. */
const AROUND = 200;

/** The row where a conversation opens: the requested message, the first unread one, or the end. Null if it must be loaded first. */
export function goalOf(rows: Row[], at: number | undefined): { index: number; align: "center" | "start" | "end" } | null {
  if (at !== undefined) {
    const index = rows.findIndex((row) => row.kind === "message" && row.message.id === at);
    return index < 0 ? null : { index, align: "center" };
  }
  const unread = rows.findIndex((row) => row.kind === "unread");
  const isMore = rows.slice(unread).reduce((sum, row) => sum + sizeOf(row), AROUND) > window.innerHeight;
  if (unread >= 0 && isMore) return { index: unread, align: "start" };
  return { index: rows.length - 1, align: "end" };
}

/** The assumed position of that row, so that the first drawing shows it. */
export function offsetOf(rows: Row[], at: number | undefined): number {
  const goal = goalOf(rows, at);
  const before = rows.slice(0, goal?.index ?? 0).reduce((sum, row) => sum + sizeOf(row), 0);
  const part = { center: 0.5, start: 0, end: 1 }[goal?.align ?? "start"];
  return Math.max(0, before - part * window.innerHeight);
}
