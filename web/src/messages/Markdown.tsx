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
import { channelsIn, render } from "./markdown";
import { isPlain } from "./plain";

interface MarkdownProps {
  text: string;
  className?: string;
  /** Shows the exact text. */
  onSource?: () => void;
}

/** A text of somebody's. */
export const Markdown = memo(function Markdown(props: MarkdownProps) {
  const { text, className } = props;
  if (!isPlain(text)) return text.includes("#") ? <WithChannels {...props} /> : <Marked {...props} />;
  return (
    <div className={classes("prose max-w-[80ch]", className)}>
      <p>{text}</p>
    </div>
  );
});

/** Channels that it names are links, once it is known that there are such channels. */
function WithChannels(props: MarkdownProps) {
  const { text } = props;
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
      <Marked {...props} channels={channels} />
    </div>
  );
}

/** Blocks of code get a button that copies them. */
function Marked({ text, className, channels, onSource }: MarkdownProps & { channels?: readonly string[] }) {
  const me = useMe()?.user.username;
  const box = useRef<HTMLDivElement>(null);
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? text : beginningOf(text);
  const { html, isPartial } = render(shown, me, channels);
  useEffect(() => {
    if (box.current?.querySelector(".sign")) void import("./nameSigns").then(({ nameSigns }) => box.current && nameSigns(box.current), () => undefined);
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
        void copy(codeIn(block)).then((isDone) => isDone && toast("Copied."));
      });
      block.append(button);
    }
  }, [shown, me, channels]);
  return (
    <>
      <div
        ref={box}
        className={classes("prose max-w-[80ch]", className)}
        dangerouslySetInnerHTML={{ __html: html as unknown as string }}
      />
      {shown.length < text.length ? (
        <Button size="row" className="mt-1" onClick={() => setWhole(true)}>
          Show all of it, {bytes(text.length)}
        </Button>
      ) : null}
      {isPartial && onSource ? (
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
