import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { memo, useEffect, useRef, useState } from "react";

import { channelsQuery } from "../api/queries";
import { bytes } from "../lib/bytes";
import { useMe } from "../shell/me";
import { Button } from "../ui/Button";
import { toast } from "../ui/Toasts";
import { classes } from "../ui/classes";
import { copy } from "../ui/copy";
import { beginningOf } from "./long";
import { channelsIn, toHtml } from "./markdown";
import { isPlain } from "./plain";

interface MarkdownProps {
  text: string;
  className?: string;
}

/** A text of somebody's. */
export const Markdown = memo(function Markdown({ text, className }: MarkdownProps) {
  if (!isPlain(text)) return text.includes("#") ? <WithChannels text={text} className={className} /> : <Marked text={text} className={className} />;
  return (
    <div className={classes("prose max-w-[80ch]", className)}>
      <p>{text}</p>
    </div>
  );
});

/** Channels that it names are links, once it is known that there are such channels. */
function WithChannels({ text, className }: MarkdownProps) {
  const navigate = useNavigate();
  const channels = useQuery({ ...channelsQuery, select: (all) => channelsIn(text, (name) => all.some((one) => one.name === name)) }).data;
  return (
    <div
      className="contents"
      onClick={(event) => {
        const link = (event.target as Element).closest("a.channel");
        if (!link || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        void navigate({ to: link.getAttribute("href")! });
      }}
    >
      <Marked text={text} className={className} channels={channels} />
    </div>
  );
}

/** Blocks of code get a button that copies them. */
function Marked({ text, className, channels }: MarkdownProps & { channels?: readonly string[] }) {
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
  }, [shown, me, channels]);
  return (
    <>
      <div
        ref={box}
        className={classes("prose max-w-[80ch]", className)}
        dangerouslySetInnerHTML={{ __html: toHtml(shown, me, channels) as unknown as string }}
      />
      {shown.length < text.length ? (
        <Button size="row" className="mt-1" onClick={() => setWhole(true)}>
          Show all of it, {bytes(text.length)}
        </Button>
      ) : null}
    </>
  );
}
