import { memo, useEffect, useRef, useState } from "react";

import { bytes } from "../lib/bytes";
import { useMe } from "../shell/me";
import { Button } from "../ui/Button";
import { toast } from "../ui/Toasts";
import { classes } from "../ui/classes";
import { copy } from "../ui/copy";
import { beginningOf } from "./long";
import { toHtml } from "./markdown";
import { isPlain } from "./plain";

interface MarkdownProps {
  text: string;
  className?: string;
}

/** A text of somebody's. */
export const Markdown = memo(function Markdown({ text, className }: MarkdownProps) {
  if (!isPlain(text)) return <Marked text={text} className={className} />;
  return (
    <div className={classes("prose max-w-[80ch]", className)}>
      <p>{text}</p>
    </div>
  );
});

/** Blocks of code get a button that copies them. */
function Marked({ text, className }: MarkdownProps) {
  const me = useMe()?.user.username;
  const box = useRef<HTMLDivElement>(null);
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? text : beginningOf(text);
  useEffect(() => {
    for (const block of box.current?.querySelectorAll("pre") ?? []) {
      if (block.querySelector("button")) continue;
      block.classList.add("relative", "group");
      block.tabIndex = 0;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "Copy";
      button.className =
        "absolute right-1 top-1 rounded-sm border border-line bg-bg px-1.5 text-xs text-muted hover:text-fg";
      button.addEventListener("click", () => {
        void copy(block.querySelector("code")?.textContent ?? "").then((isDone) => isDone && toast("Copied."));
      });
      block.append(button);
    }
  }, [shown, me]);
  return (
    <>
      <div
        ref={box}
        className={classes("prose max-w-[80ch]", className)}
        dangerouslySetInnerHTML={{ __html: toHtml(shown, me) as unknown as string }}
      />
      {shown.length < text.length ? (
        <Button size="row" className="mt-1" onClick={() => setWhole(true)}>
          Show all of it, {bytes(text.length)}
        </Button>
      ) : null}
    </>
  );
}
