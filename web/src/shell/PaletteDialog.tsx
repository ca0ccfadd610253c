import * as Dialog from "@radix-ui/react-dialog";
import { useNavigate } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useEffect, useId, useRef, useState } from "react";

import { withText } from "../pages/search/query";
import { Key } from "./Key";
import { PaletteFoot } from "./PaletteFoot";
import { PaletteList } from "./PaletteList";
import { palette, paletteText } from "./palette";
import { type Choice, usePaletteChoices } from "./usePaletteChoices";

/** Opens pages and runs commands by name. Loaded when the person first opens it. */
export default function PaletteDialog() {
  return (
    <Dialog.Root open onOpenChange={(next) => palette.set(next)}>
      <PaletteBody />
    </Dialog.Root>
  );
}

function PaletteBody() {
  const navigate = useNavigate();
  const [text, setText] = useState(() => paletteText.get());
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const end = field.current?.value.length ?? 0;
    field.current?.setSelectionRange(end, end);
    paletteText.set("");
  }, []);
  const [chosen, setChosen] = useState(0);
  const typed = text.trim();
  const choices = usePaletteChoices(typed);
  const id = useId();
  useEffect(() => setChosen(0), [typed]);
  // A later answer may bring fewer choices.
  const at = Math.min(chosen, Math.max(0, choices.length - 1));
  const go = (choice: Choice | undefined) => {
    if (!choice) return;
    palette.set(false);
    if (typeof choice.go === "function") choice.go();
    else if (choice.typed === undefined) void navigate({ to: choice.go });
    else void navigate({ to: "/search", search: withText({}, choice.typed) });
  };
  return (
    <Dialog.Portal>
      <div className="fixed inset-0 z-40 bg-shade" aria-hidden="true" />
      <Dialog.Content
        aria-describedby={undefined}
        className="fixed top-[12vh] left-1/2 z-50 flex max-h-[76vh] w-[640px] max-w-[95vw] -translate-x-1/2 flex-col rounded-lg border border-line bg-bg shadow-lg"
      >
        <Dialog.Title className="sr-only">Search or jump to</Dialog.Title>
        <div className="flex h-12 shrink-0 items-center gap-3 border-b border-line px-4">
          <Search size={16} aria-hidden="true" className="shrink-0 text-muted" />
          <input
            ref={field}
            autoFocus
            role="combobox"
            aria-label="Search or jump to"
            aria-expanded="true"
            aria-controls={`${id}-list`}
            aria-activedescendant={choices.length ? `${id}-${at}` : undefined}
            autoComplete="off"
            spellCheck={false}
            value={text}
            placeholder="Search or jump to"
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "ArrowDown" || event.key === "ArrowUp") {
                event.preventDefault();
                const step = event.key === "ArrowDown" ? 1 : -1;
                setChosen((at + step + Math.max(1, choices.length)) % Math.max(1, choices.length));
              } else if (event.key === "Enter" && !event.nativeEvent.isComposing) {
                event.preventDefault();
                go(event.ctrlKey || event.metaKey ? choices.find((choice) => choice.typed !== undefined) : choices[at]);
              }
            }}
            className="h-full min-w-0 flex-1 bg-transparent text-lg outline-none placeholder:text-muted"
          />
          <Key>esc</Key>
        </div>
        <PaletteList id={id} choices={choices} at={at} typed={typed} onPoint={setChosen} onChoose={go} />
        <PaletteFoot />
      </Dialog.Content>
    </Dialog.Portal>
  );
}
