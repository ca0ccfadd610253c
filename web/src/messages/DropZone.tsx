import { type ReactNode, useEffect, useState } from "react";

import { sentenceOf } from "../api/problem";
import { toast } from "../ui/Toasts";

/** Takes files into a draft. How they are uploaded is loaded with the first one. */
export function takeFiles(draft: string, files: readonly File[], folders: readonly string[] = []): void {
  if (files.length + folders.length === 0) return;
  import("./upload").then(
    ({ addFiles }) => addFiles(draft, files, folders),
    (error: unknown) => toast(sentenceOf(error), { isError: true }),
  );
}

const hasFiles = (transfer: DataTransfer | null) => transfer?.types.includes("Files") ?? false;

/** What was dropped. A folder comes as a file that cannot be read, so it is told apart here. */
function contents(transfer: DataTransfer): { files: File[]; folders: string[] } {
  const files: File[] = [];
  const folders: string[] = [];
  for (const item of transfer.items) {
    const file = item.kind === "file" ? item.getAsFile() : null;
    if (!file) continue;
    if (item.webkitGetAsEntry?.()?.isDirectory) folders.push(file.name);
    else files.push(file);
  }
  return { files, folders };
}

/** A conversation: files that are dropped or pasted anywhere on it go with the next message. */
export function DropZone({ draft, children }: { draft: string; children: ReactNode }) {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    // A file that misses its place would be opened instead of the page.
    const hold = (event: DragEvent) => {
      if (!hasFiles(event.dataTransfer)) return;
      event.preventDefault();
      if (event.type === "drop") setOver(false);
    };
    window.addEventListener("dragover", hold);
    window.addEventListener("drop", hold);
    return () => {
      window.removeEventListener("dragover", hold);
      window.removeEventListener("drop", hold);
    };
  }, []);
  return (
    <div
      className="relative flex min-h-0 flex-1 flex-col"
      onDragEnter={(event) => setOver(hasFiles(event.dataTransfer))}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
      }}
      onDrop={(event) => {
        if (!hasFiles(event.dataTransfer)) return;
        event.preventDefault();
        setOver(false);
        const { files, folders } = contents(event.dataTransfer);
        takeFiles(draft, files, folders);
      }}
      onPaste={(event) => {
        const files = [...event.clipboardData.files];
        // Office programs put a picture of the text beside the text; who pastes that wants the text.
        if (files.length === 0 || event.clipboardData.types.includes("text/plain")) return;
        event.preventDefault();
        takeFiles(draft, files);
      }}
    >
      {children}
      {isOver ? (
        <div className="pointer-events-none absolute inset-2 z-30 flex items-center justify-center rounded-lg border-2 border-dashed border-accent bg-bg/90 text-lg font-semibold">
          Drop files to attach them
        </div>
      ) : null}
    </div>
  );
}
