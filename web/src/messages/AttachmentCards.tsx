import { Download, FileText, Image } from "lucide-react";
import { useState } from "react";

import type { Attachment } from "../api/types";
import { bytes } from "../lib/bytes";
import { PLACES } from "./Attachments";
import { FileName } from "./FileName";
import { addressOf, safeName, typeWord } from "./files";
import { lightbox } from "./lightbox";
import { useMayDraw } from "./mayDraw";
import { isImage } from "./pictures";

/** The files of a message. Each has a place of a known size, so that nothing moves when a picture comes. */
export default function AttachmentCards({ files }: { files: readonly Attachment[] }) {
  const images = files.filter(isImage);
  const open = (file: Attachment) => lightbox.set({ files: images, at: images.indexOf(file) });
  return (
    <ul aria-label="Attachments" className="mt-1 flex flex-wrap gap-2">
      {files.map((file) => (
        <FilePlace key={file.sha256} file={file} onOpen={isImage(file) ? () => open(file) : undefined} />
      ))}
    </ul>
  );
}

/** A file in its place: a picture in small if it may be drawn, and a card otherwise. */
function FilePlace({ file, onOpen }: { file: Attachment; onOpen?: () => void }) {
  const mayDraw = useMayDraw(file);
  return (
    <li className={PLACES[mayDraw === false ? "card" : "picture"]}>
      {mayDraw && onOpen ? <Thumbnail file={file} onOpen={onOpen} /> : null}
      {mayDraw === false ? <AttachmentCard file={file} onOpen={onOpen} /> : null}
    </li>
  );
}

/** A picture in small. One that cannot be shown is a file like any other. */
function Thumbnail({ file, onOpen }: { file: Attachment; onOpen: () => void }) {
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <AttachmentCard file={file} />;
  return (
    <button
      type="button"
      aria-label={`Open ${safeName(file.filename)}`}
      title={safeName(file.filename)}
      onClick={onOpen}
      className="block size-full overflow-hidden rounded-md border border-line bg-panel hover:border-control"
    >
      <img
        src={addressOf(file)}
        alt=""
        width={240}
        height={160}
        loading="lazy"
        decoding="async"
        onError={() => setBroken(true)}
        className="size-full object-cover"
      />
    </button>
  );
}

/** A file: what it is, what it is called, how long it is, and the way to it. */
export function AttachmentCard({ file, onOpen }: { file: Attachment; onOpen?: () => void }) {
  const name = safeName(file.filename);
  const title = <FileName name={name} className="font-medium" />;
  return (
    <div className={`flex items-center gap-3 rounded-md border border-line bg-bg pr-2 pl-2.5 ${PLACES.card}`}>
      <span className="flex size-8 shrink-0 items-center justify-center rounded-sm bg-panel text-muted">
        {isImage(file) ? <Image size={16} aria-hidden="true" /> : <FileText size={16} aria-hidden="true" />}
      </span>
      <div className="min-w-0 flex-1">
        {onOpen ? (
          <button type="button" onClick={onOpen} aria-label={`Open ${name}`} className="block w-full text-left hover:underline">
            {title}
          </button>
        ) : (
          title
        )}
        <div className="truncate text-xs text-muted">
          {bytes(file.size)} · {typeWord(file.mime_type)}
        </div>
      </div>
      <a
        href={addressOf(file)}
        download={name}
        aria-label={`Download ${name}`}
        title="Download"
        className="inline-flex size-7 shrink-0 items-center justify-center rounded-md text-muted hover:bg-panel hover:text-fg pointer-coarse:size-11"
      >
        <Download size={16} aria-hidden="true" />
      </a>
    </div>
  );
}
