import { FileText, RotateCw, X } from "lucide-react";

import { bytes } from "../lib/bytes";
import { IconButton } from "../ui/Button";
import { classes } from "../ui/classes";
import { FileName } from "./FileName";
import type { DraftFile } from "./drafts";
import { safeName } from "./files";
import { removeFile, retryFile } from "./upload";

/** The files that go with what is being written: how far each is, and why one is not there. */
export default function UploadTray({ draft, files }: { draft: string; files: readonly DraftFile[] }) {
  return (
    <ul aria-label="Attached files" className="flex max-h-48 flex-wrap gap-2 overflow-y-auto px-3 pt-2 pb-1">
      {files.map((file) => (
        <TrayFile key={file.key} file={file} draft={draft} />
      ))}
    </ul>
  );
}

function TrayFile({ file, draft }: { file: DraftFile; draft: string }) {
  const name = safeName(file.name);
  const isUploading = !file.attachment && file.error === null;
  const percent = Math.floor(file.part * 100);
  return (
    <li
      className={classes(
        "relative flex max-w-full items-center gap-2 overflow-hidden rounded-md border bg-bg py-1 pr-1 pl-2",
        file.error === null ? "w-64 border-line" : "w-full border-rejected",
      )}
    >
      <FileText size={16} aria-hidden="true" className="shrink-0 text-muted" />
      <div className="min-w-0 flex-1">
        <FileName name={name} className="text-sm font-medium" />
        {file.error === null ? (
          <span className="block text-xs text-muted tabular-nums">
            {bytes(file.size)}
            {isUploading ? (percent < 100 ? ` · ${percent} %` : " · processing") : null}
          </span>
        ) : (
          <span role="alert" className="block text-xs text-rejected">
            {file.error}
          </span>
        )}
      </div>
      {file.canRetry && file.error !== null ? (
        <IconButton label={`Retry ${name}`} onClick={() => retryFile(draft, file.key)}>
          <RotateCw size={14} />
        </IconButton>
      ) : null}
      <IconButton
        label={isUploading ? `Cancel ${name}` : `Remove ${name}`}
        onClick={(event) => {
          event.currentTarget.closest("form")?.querySelector("textarea")?.focus();
          removeFile(draft, file.key);
        }}
      >
        <X size={14} />
      </IconButton>
      {isUploading ? (
        <div
          role="progressbar"
          aria-label={`Uploading ${name}`}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={percent}
          className="absolute inset-x-0 bottom-0 h-0.5 bg-line"
        >
          <div className="h-full bg-accent" style={{ width: `${percent}%` }} />
        </div>
      ) : null}
    </li>
  );
}
