import * as Dialog from "@radix-ui/react-dialog";
import { ChevronLeft, ChevronRight, Download, X } from "lucide-react";
import { useState } from "react";

import { bytes } from "../lib/bytes";
import { useStore } from "../lib/store";
import { Button, IconButton } from "../ui/Button";
import { FileName } from "./FileName";
import { addressOf, safeName } from "./files";
import { lightbox } from "./lightbox";
import { useMayDraw } from "./mayDraw";

/** A picture in large, and the others of the same message beside it. It is loaded when somebody first opens one. */
export default function Lightbox() {
  const shown = useStore(lightbox);
  const [broken, setBroken] = useState<string | null>(null);
  const [opener] = useState(() => document.activeElement as HTMLElement | null);
  const [asked, setAsked] = useState<string | null>(null);
  const file = shown?.files[shown.at];
  const mayDraw = useMayDraw(file, true);
  if (!shown || !file) return null;
  const count = shown.files.length;
  const step = (by: number) => lightbox.set({ ...shown, at: (shown.at + by + count) % count });
  const name = safeName(file.filename);
  return (
    <Dialog.Root open onOpenChange={(isOpen) => (isOpen ? undefined : lightbox.set(null))}>
      <Dialog.Portal>
        <div className="fixed inset-0 z-40 bg-shade" aria-hidden="true" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed inset-4 z-50 flex flex-col rounded-lg border border-line bg-bg shadow-lg max-md:inset-0 max-md:rounded-none"
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            opener?.focus({ preventScroll: true });
          }}
          onKeyDown={(event) => {
            if (count < 2 || (event.key !== "ArrowLeft" && event.key !== "ArrowRight")) return;
            event.preventDefault();
            step(event.key === "ArrowRight" ? 1 : -1);
          }}
        >
          <div className="flex shrink-0 items-center gap-2 border-b border-line px-4 py-2">
            <Dialog.Title className="min-w-0 flex-1 font-semibold">
              <FileName name={name} />
            </Dialog.Title>
            <span className="text-muted whitespace-nowrap tabular-nums">
              {count > 1 ? (
                <span role="status">
                  {shown.at + 1} of {count} ·{" "}
                </span>
              ) : null}
              {bytes(file.size)}
            </span>
            <a
              href={addressOf(file)}
              download={name}
              aria-label={`Download ${name}`}
              title="Download"
              className="inline-flex size-7 shrink-0 items-center justify-center rounded-md text-muted hover:bg-panel hover:text-fg pointer-coarse:size-11"
            >
              <Download size={16} aria-hidden="true" />
            </a>
            <IconButton label="Close" onClick={() => lightbox.set(null)}>
              <X size={16} />
            </IconButton>
          </div>
          <div className="relative flex min-h-0 flex-1 items-center justify-center bg-panel p-2">
            {broken === file.sha256 ? (
              <p className="text-muted">This image cannot be displayed. Download it instead.</p>
            ) : !mayDraw && asked !== file.sha256 ? (
              <div className="flex flex-col items-center gap-2 text-muted">
                {mayDraw === undefined ? null : (
                  <>
                    <p>This image is very large or its size is unknown. Showing it may use a lot of memory.</p>
                    <Button onClick={() => setAsked(file.sha256)}>Show image</Button>
                  </>
                )}
              </div>
            ) : (
              <img
                key={file.sha256}
                src={addressOf(file)}
                alt={name}
                onError={() => setBroken(file.sha256)}
                className="max-h-full max-w-full object-contain"
              />
            )}
            {count > 1 ? (
              <>
                <IconButton label="Previous image" onClick={() => step(-1)} className="absolute left-2 border border-line bg-bg">
                  <ChevronLeft size={18} />
                </IconButton>
                <IconButton label="Next image" onClick={() => step(1)} className="absolute right-2 border border-line bg-bg">
                  <ChevronRight size={18} />
                </IconButton>
              </>
            ) : null}
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
