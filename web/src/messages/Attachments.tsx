import { Suspense, lazy } from "react";

import type { Attachment } from "../api/types";
import { hasThumbnail } from "./pictures";

const AttachmentCards = lazy(() => import("./AttachmentCards"));

/** How much room files take, whether or not they are there yet. */
export const PLACES = { picture: "h-40 w-60 max-w-full", card: "h-12 w-80 max-w-full pointer-coarse:h-14" };

/** The files of a message. How they look is loaded with the first ones; their places are there before, so that nothing moves. */
export function Attachments({ files }: { files: readonly Attachment[] }) {
  if (files.length === 0) return null;
  const places = (
    <div className="mt-1 flex flex-wrap gap-2">
      {files.map((file) => (
        <div key={file.sha256} className={PLACES[hasThumbnail(file) ? "picture" : "card"]} />
      ))}
    </div>
  );
  return (
    <Suspense fallback={places}>
      <AttachmentCards files={files} />
    </Suspense>
  );
}
