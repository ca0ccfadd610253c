import { useMemo } from "react";

import { type Piece, piecesOf } from "../lib/pieces";
import { Shown } from "../ui/Shown";
import { VirtualList } from "../ui/VirtualList";
import { classes } from "../ui/classes";
import { Markdown } from "./Markdown";

/** About so many characters are in a line, and so high is one. */
const LINE = { characters: 80, height: 20 };

function heightOf({ text }: Piece): number {
  return Math.max(1, Math.ceil(text.length / LINE.characters)) * LINE.height;
}

/** A text of any length, drawn in pieces as far as it is in sight. A piece ends between lines if it can; one line may need several. */
export function LongText({ text, isMarkdown }: { text: string; isMarkdown?: boolean }) {
  const pieces = useMemo(() => piecesOf(text, isMarkdown), [text, isMarkdown]);
  return (
    <VirtualList rows={pieces} keyOf={({ at }) => at} size={heightOf} overscan={1} isLong rowClass="pb-1">
      {(piece) =>
        piece.kind === "blocks" ? (
          <Markdown text={piece.text} />
        ) : (
          <p className={classes("overflow-clip [overflow-wrap:anywhere] whitespace-pre-wrap [unicode-bidi:plaintext]", piece.kind === "code" && "font-mono text-sm")}>
            <Shown text={piece.text} />
          </p>
        )
      }
    </VirtualList>
  );
}
