import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Copy, Download } from "lucide-react";

import { type AttachmentDetails, attachmentsQuery } from "../../api/attachments";
import { bytes } from "../../lib/bytes";
import { addressOf, safeName, typeWord } from "../../messages/files";
import { lightbox } from "../../messages/lightbox";
import { isImage } from "../../messages/pictures";
import { IconButton } from "../../ui/Button";
import { type Column, DataTable } from "../../ui/DataTable";
import { Page } from "../../ui/Page";
import { ShowOlder } from "../../ui/ShowOlder";
import { Empty, Failed, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toasts";
import { copy } from "../../ui/copy";
import { FileNameCell } from "./FileNameCell";
import { ReferenceCell } from "./ReferenceCell";

/** The files that the person uploaded, and the messages that have them. */
export function AttachmentsPage() {
  const list = useInfiniteQuery(attachmentsQuery);
  const files = list.data?.pages.flatMap((page) => page.items) ?? [];
  const images = files.filter(isImage);
  const columns: Array<Column<AttachmentDetails>> = [
    {
      title: "Name",
      cell: (file) => <FileNameCell file={file} onOpen={() => lightbox.set({ files: images, at: images.indexOf(file) })} />,
    },
    { title: "Type", isWideOnly: true, cell: (file) => <span className="whitespace-nowrap text-muted">{typeWord(file.mime_type)}</span> },
    { title: "Size", isEnd: true, isWideOnly: true, cell: (file) => <span className="whitespace-nowrap">{bytes(file.size)}</span> },
    { title: "SHA-256", isWideOnly: true, cell: (file) => <Digest sum={file.sha256} /> },
    { title: "Sent in", cell: (file) => <ReferenceCell sum={file.sha256} /> },
    { title: "Uploaded", isWideOnly: true, cell: (file) => <Time at={file.created_at} /> },
    {
      title: "Download",
      isEnd: true,
      isTitleHidden: true,
      cell: (file) => (
        <a
          href={addressOf(file)}
          download={safeName(file.filename)}
          aria-label={`Download ${safeName(file.filename)}`}
          title="Download"
          className="inline-flex size-7 items-center justify-center rounded-md text-muted hover:bg-panel hover:text-fg pointer-coarse:size-11"
        >
          <Download size={16} aria-hidden="true" />
        </a>
      ),
    },
  ];
  return (
    <Page title="Attachments" subtitle="Files you uploaded">
      {list.isError ? <Failed error={list.error} retry={() => void list.refetch()} /> : null}
      {list.isLoading ? <Skeleton /> : null}
      {list.data && files.length === 0 ? (
        <Empty title="No files yet">
          Drop or paste images, PDFs or text files into a <Link to="/channels" className="text-accent underline">channel</Link> or a direct message.
        </Empty>
      ) : null}
      {files.length > 0 ? (
        <div className="flex flex-col gap-3 px-6 py-2 max-md:px-4">
          <DataTable label="Attachments" columns={columns} rows={files} keyOf={(file) => file.sha256} />
          <ShowOlder list={list} />
        </div>
      ) : null}
    </Page>
  );
}

function Digest({ sum }: { sum: string }) {
  return (
    <span className="inline-flex items-center gap-1 whitespace-nowrap">
      <code className="font-mono text-sm text-muted" title={sum}>
        {sum.slice(0, 12)}
      </code>
      <IconButton
        label={`Copy SHA-256 ${sum.slice(0, 12)}`}
        onClick={() => void copy(sum).then((isCopied) => isCopied && toast("Copied"))}
      >
        <Copy size={14} />
      </IconButton>
    </span>
  );
}
