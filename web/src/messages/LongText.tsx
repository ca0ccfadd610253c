import { useMemo } from "react";

import { type Piece, piecesOf } from "../lib/pieces";
import { useTurn } from "../lib/turns";
import { Shown } from "../ui/Shown";
import { VirtualList } from "../ui/VirtualList";
import { classes } from "../ui/classes";
import { Markdown } from "./Markdown";

const DENSE = 1000;
/** About so many characters are in a line, and so high is one. */
const LINE = { characters: 80, height: 20 };

function heightOf({ text }: Piece): number {
  return Math.max(1, Math.ceil(text.length / LINE.characters)) * LINE.height;
}

/** A part of a long text as it was written. */
function PlainPiece({ piece }: { piece: Piece }) {
  // Short pieces are those whose characters are costly, and many of them are in sight.
  const mayDraw = useTurn(piece.text.length < DENSE);
  return (
    <p
      className={classes(
        "overflow-clip [overflow-wrap:anywhere] whitespace-pre-wrap [unicode-bidi:plaintext]",
        piece.kind === "code" && "font-mono text-sm",
      )}
    >
      {mayDraw ? <Shown text={piece.text} /> : "…"}
    </p>
  );
}

/** A text of any length, drawn in pieces as far as it is in sight. A piece ends between lines if it can; one line may need several. */
export function LongText({ text, isMarkdown, onSource }: { text: string; isMarkdown?: boolean; onSource?: () => void }) {
  const pieces = useMemo(() => piecesOf(text, isMarkdown), [text, isMarkdown]);
  return (
    <VirtualList rows={pieces} keyOf={({ at }) => at} size={heightOf} overscan={1} isLong rowClass="pb-1">
      {(piece) => (piece.kind === "blocks" ? <Markdown text={piece.text} onSource={onSource} /> : <PlainPiece piece={piece} />)}
    </VirtualList>
  );
}
