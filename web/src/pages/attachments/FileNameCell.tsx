import { FileText } from "lucide-react";
import { useState } from "react";

import type { AttachmentDetails } from "../../api/attachments";
import { addressOf, safeName, shortName } from "../../messages/files";
import { useMayDraw } from "../../messages/mayDraw";
import { isImage } from "../../messages/pictures";

/** The name of a file, with a small picture of it if it is an image. */
export function FileNameCell({ file, onOpen }: { file: AttachmentDetails; onOpen: () => void }) {
  const [isBroken, setBroken] = useState(false);
  const mayDraw = useMayDraw(file);
  const name = safeName(file.filename);
  const title = <bdi title={name}>{shortName(name)}</bdi>;
  return (
    <span className="flex min-w-32 items-center gap-3">
      <span className="flex size-10 shrink-0 items-center justify-center overflow-hidden rounded-sm border border-line bg-panel text-muted">
        {mayDraw && !isBroken ? (
          <img
            src={addressOf(file)}
            alt=""
            width={40}
            height={40}
            loading="lazy"
            decoding="async"
            onError={() => setBroken(true)}
            className="size-full object-cover"
          />
        ) : (
          <FileText size={16} aria-hidden="true" />
        )}
      </span>
      {isImage(file) ? (
        <button type="button" aria-label={`Open ${name}`} onClick={onOpen} className="min-h-6 text-left font-medium wrap-anywhere text-accent hover:underline">
          {title}
        </button>
      ) : (
        <span className="font-medium wrap-anywhere">{title}</span>
      )}
    </span>
  );
}
