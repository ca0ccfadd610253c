import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { memo, useEffect, useMemo, useRef, useState } from "react";

import { channelNames, channelsQuery } from "../api/queries";
import { beginningOf, isDense } from "../lib/cut";
import { useTurn } from "../lib/turns";
import { useMe } from "../shell/me";
import { Button } from "../ui/Button";
import { ShowAll } from "../ui/ShowAll";
import { Shown } from "../ui/Shown";
import { toast } from "../ui/Toasts";
import { classes } from "../ui/classes";
import { copy } from "../ui/copy";
import { MOST_NODES, MOST_NODES_ASKED, channelsIn, render } from "./markdown";
import { isPlain } from "./plain";

interface MarkdownProps {
  text: string;
  className?: string;
  /** Shows the exact text. */
  onSource?: () => void;
}

/** A text of somebody's. Of a long one the beginning is drawn, and all of it can be opened. */
export const Markdown = memo(function Markdown(props: MarkdownProps) {
  const { text, className } = props;
  const shown = useMemo(() => beginningOf(text), [text]);
  const mayDraw = useTurn(isDense(shown, text));
  if (!mayDraw) return <p data-waiting className="text-muted">…</p>;
  return (
    <>
      {isPlain(shown) ? (
        <div className={classes("prose max-w-[80ch]", className)}>
          <p>{shown}</p>
        </div>
      ) : shown.includes("#") ? (
        <WithChannels {...props} text={shown} />
      ) : (
        <Marked {...props} text={shown} />
      )}
      {shown.length < text.length ? <ShowAll title="Full text" text={text} isMarkdown /> : null}
    </>
  );
});

/** Channels that it names are links, once it is known that there are such channels. */
function WithChannels(props: MarkdownProps) {
  const { text } = props;
  const navigate = useNavigate();
  const channels = useQuery({ ...channelsQuery, select: (all) => channelsIn(text, channelNames(all)) }).data;
  return (
    <div
      className="contents"
      onClick={(event) => {
        const link = (event.target as Element).closest("a.channel, a[href^='/channels/']");
        if (!link || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        void navigate({ href: link.getAttribute("href")! });
      }}
    >
      <Marked {...props} channels={channels} />
    </div>
  );
}

/** Blocks of code get a button that copies them. What would become too many elements is shown as it was written, until somebody asks. */
function Marked({ text, className, channels, onSource }: MarkdownProps & { channels?: readonly string[] }) {
  const me = useMe()?.user.username;
  const box = useRef<HTMLDivElement>(null);
  const [isAsked, setAsked] = useState(false);
  const most = isAsked ? MOST_NODES_ASKED : MOST_NODES;
  const { html, isPartial, isOver } = useMemo(() => render(text, me, channels, most), [text, me, channels, most]);
  const isAsWritten = isOver && !isAsked;
  useEffect(() => {
    if (box.current?.querySelector(".sign")) void import("./nameSigns").then(({ nameSigns }) => box.current && nameSigns(box.current), () => undefined);
    if (box.current?.querySelector("pre[data-language]")) void import("./colourCode").then(({ colourCode }) => box.current && colourCode(box.current), () => undefined);
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
        void copy(codeIn(block)).then((isDone) => isDone && toast("Copied"));
      });
      block.append(button);
    }
  }, [html, isAsWritten]);
  const look = classes("prose max-w-[80ch]", className);
  return (
    <>
      {isAsWritten ? (
        <div className={look}>
          <p className="whitespace-pre-wrap">
            <Shown text={text} />
          </p>
        </div>
      ) : (
        <div ref={box} className={look} dangerouslySetInnerHTML={{ __html: html as unknown as string }} />
      )}
      {isAsked || isOver ? (
        <Button size="row" className="my-1 mr-2" onClick={() => setAsked(!isAsked)}>
          {isAsked ? "Show as text" : "Show formatted"}
        </Button>
      ) : null}
      {!isAsWritten && (isPartial || isOver) && onSource ? (
        <p className="flex flex-wrap items-center gap-x-2 text-sm text-amber">
          Part of this text is not shown.
          <Button size="row" look="plain" onClick={onSource}>
            Show source
          </Button>
        </p>
      ) : null}
    </>
  );
}

/** The code in a block as people see it: what is hidden is not copied. */
function codeIn(block: Element): string {
  const code = block.querySelector("code")?.cloneNode(true) as Element | undefined;
  for (const sign of code?.querySelectorAll(".sign") ?? []) sign.remove();
  return code?.textContent ?? "";
}
