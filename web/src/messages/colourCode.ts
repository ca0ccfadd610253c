import { type CodePart, codeParts } from "./codeParts";

/** So many elements are added to a text at most. A block that needs more keeps one colour. */
export const MOST_COLOURED = 300;
/** A text of more elements is costly enough as it is. */
const MOST_ELEMENTS = 500;

/** Colours the code in a text. A block with marks for hidden characters stays as it is, so that the marks stand out. */
export function colourCode(box: Element): void {
  if (box.getElementsByTagName("*").length > MOST_ELEMENTS) return;
  let left = MOST_COLOURED;
  for (const code of box.querySelectorAll<HTMLElement>("pre[data-language] > code")) {
    const only = code.childNodes.length === 1 ? code.firstChild : null;
    if (!(only instanceof Text)) continue;
    const parts = codeParts(only.data, (code.parentElement as HTMLElement).dataset["language"] ?? "");
    const count = parts?.filter(({ kind }) => kind).length ?? 0;
    if (!parts || count === 0 || count > left) continue;
    left -= count;
    code.replaceChildren(...parts.map(drawn));
  }
}

function drawn({ text, kind }: CodePart): Node {
  if (!kind) return document.createTextNode(text);
  const span = document.createElement("span");
  span.className = `code-${kind}`;
  span.textContent = text;
  return span;
}
