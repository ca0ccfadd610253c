import { useState } from "react";

import { Button } from "../../ui/Button";
import { PatchFileBox } from "./PatchFileBox";
import type { PatchFile } from "./patch";

/** So many files are listed at first, and with each "Show more". */
const FILES = 50;
/** So many of the first files are open, as long as they have few lines together. */
const OPEN_FILES = 3;
const OPEN_LINES = 400;

/** How many of the first files are open. */
export function openCount(files: readonly PatchFile[]): number {
  let lines = 0;
  const closed = files.slice(0, OPEN_FILES).findIndex((file, at) => {
    lines += file.lines.length;
    return at > 0 && lines > OPEN_LINES;
  });
  return closed < 0 ? OPEN_FILES : closed;
}

/** What changed, file by file. */
export function PatchView({ files }: { files: readonly PatchFile[] }) {
  const [count, setCount] = useState(FILES);
  const more = Math.min(FILES, files.length - count);
  const open = openCount(files);
  return (
    <div className="flex min-w-0 flex-col items-start gap-2">
      <ul aria-label="Changed files" className="flex w-full min-w-0 flex-col gap-2">
        {files.slice(0, count).map((file, at) => (
          <li key={at} className="min-w-0">
            <PatchFileBox file={file} isOpenAtFirst={at < open} />
          </li>
        ))}
      </ul>
      {more > 0 ? (
        <Button onClick={() => setCount(count + more)}>
          Show {more} more of {files.length.toLocaleString()} files
        </Button>
      ) : null}
    </div>
  );
}
