const SIGNS: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };

/**
 * The parts of a snippet, and which of them were found. The hub sends HTML in which nothing but the marks is markup; it is read as text
 * all the same, so that nothing here depends on it.
 */
export function partsOf(snippet: string): Array<{ text: string; isFound: boolean }> {
  const parts: Array<{ text: string; isFound: boolean }> = [];
  let isFound = false;
  for (const piece of snippet.split(/(<\/?mark>)/)) {
    if (piece === "<mark>" || piece === "</mark>") {
      isFound = piece === "<mark>";
    } else if (piece) {
      parts.push({ text: piece.replace(/&(?:amp|lt|gt|quot|#39);/g, (sign) => SIGNS[sign]!), isFound });
    }
  }
  return parts;
}

/** Whether a text goes on before and behind what is shown of it. */
export function cutOf(text: string, parts: ReadonlyArray<{ text: string }>): { atStart: boolean; atEnd: boolean } {
  const plain = (some: string) => some.replace(/\s+/g, " ").trim();
  const [whole, shown] = [plain(text), plain(parts.map((part) => part.text).join(""))];
  const isPart = whole.includes(shown);
  return { atStart: isPart && !whole.startsWith(shown), atEnd: isPart && !whole.endsWith(shown) };
}
