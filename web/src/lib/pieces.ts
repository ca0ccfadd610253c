import { endOf } from "./cut";

/** A part of a long text that is drawn by itself. */
export interface Piece {
  at: number;
  text: string;
  /** Complete blocks of Markdown can be formatted alone. A part of a longer block is shown as it was written. */
  kind: "blocks" | "text" | "code";
}

/** A piece costs a browser no more than so many plain characters. Blocks stay together if they need no more than twice as much. */
const MOST = 2000;

const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** Where the block of Markdown ends that begins at `start`: after a blank line that is neither in code nor before an indented line. */
function blockEnd(text: string, start: number): number {
  let fence = "";
  let at = start;
  while (at < text.length) {
    const newline = text.indexOf("\n", at);
    const end = newline < 0 ? text.length : newline + 1;
    const line = text.slice(at, Math.min(end, at + 100));
    const marks = FENCE.exec(line)?.[1] ?? "";
    if (marks && (!fence || marks.startsWith(fence))) fence = fence ? "" : marks;
    else if (!fence && line.trim() === "" && text[end] !== " " && text[end] !== "\t") return end;
    at = end;
  }
  return at;
}

/** A text in pieces that are drawn one by one. Together they are the text. */
export function piecesOf(text: string, isMarkdown = false): Piece[] {
  const pieces: Piece[] = [];
  const cut = (from: number, to: number, kind: Piece["kind"]) => {
    for (let at = from; at < to; ) {
      const end = Math.min(to, endOf(text, at, MOST));
      pieces.push({ at, text: text.slice(at, end), kind });
      at = end;
    }
  };
  if (!isMarkdown) cut(0, text.length, "text");
  for (let at = 0; isMarkdown && at < text.length; ) {
    let end = blockEnd(text, at);
    while (end < text.length && end - at < MOST / 2) {
      const next = blockEnd(text, end);
      if (next - at > MOST * 2) break;
      end = next;
    }
    if (end - at <= MOST * 2 && endOf(text.slice(at, end), 0, MOST * 2) === end - at) pieces.push({ at, text: text.slice(at, end), kind: "blocks" });
    else cut(at, end, FENCE.test(text.slice(at, at + 100)) ? "code" : "text");
    at = end;
  }
  return pieces;
}
