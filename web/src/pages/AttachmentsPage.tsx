import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Copy, Download, FileText } from "lucide-react";
import { useState } from "react";

import { type AttachmentDetails, attachmentsQuery, referencesQuery } from "../api/attachments";
import { meQuery } from "../api/queries";
import type { Me, Message } from "../api/types";
import { bytes } from "../lib/bytes";
import { addressOf, safeName, shortName, typeWord } from "../messages/files";
import { lightbox } from "../messages/lightbox";
import { hasThumbnail, isImage } from "../messages/pictures";
import { linkTo, placeOf } from "../messages/place";
import { Button, IconButton } from "../ui/Button";
import { type Column, DataTable } from "../ui/DataTable";
import { Page } from "../ui/Page";
import { Empty, Failed, Skeleton } from "../ui/States";
import { Time } from "../ui/Time";
import { toast } from "../ui/Toasts";
import { copy } from "../ui/copy";

/** How many messages are named of those that have a file. */
const NAMED = 3;

/** What the person has uploaded, and where it was sent. */
export function AttachmentsPage() {
  const list = useInfiniteQuery(attachmentsQuery);
  const files = list.data?.pages.flatMap((page) => page.items) ?? [];
  const images = files.filter(isImage);
  const columns: Array<Column<AttachmentDetails>> = [
    {
      title: "Name",
      cell: (file) => <NameCell file={file} onOpen={() => lightbox.set({ files: images, at: images.indexOf(file) })} />,
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
    <Page title="Attachments" subtitle="Files that you have uploaded">
      {list.isError ? <Failed error={list.error} retry={() => void list.refetch()} /> : null}
      {list.isLoading ? <Skeleton /> : null}
      {list.data && files.length === 0 ? (
        <Empty title="You have not sent any files yet">
          Drop or paste them into a <Link to="/channels" className="text-accent underline">channel</Link> or a direct message: images, PDFs and
          text.
        </Empty>
      ) : null}
      {files.length > 0 ? (
        <div className="flex flex-col gap-3 px-6 py-2 max-md:px-4">
          <DataTable label="Attachments" columns={columns} rows={files} keyOf={(file) => file.sha256} />
          {list.hasNextPage ? (
            <Button className="self-start" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
              Show older
            </Button>
          ) : null}
        </div>
      ) : null}
    </Page>
  );
}

function NameCell({ file, onOpen }: { file: AttachmentDetails; onOpen: () => void }) {
  const [isBroken, setBroken] = useState(false);
  const name = safeName(file.filename);
  const title = <bdi title={name}>{shortName(name)}</bdi>;
  return (
    <span className="flex min-w-32 items-center gap-3">
      <span className="flex size-10 shrink-0 items-center justify-center overflow-hidden rounded-sm border border-line bg-panel text-muted">
        {hasThumbnail(file) && !isBroken ? (
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

function Digest({ sum }: { sum: string }) {
  return (
    <span className="inline-flex items-center gap-1 whitespace-nowrap">
      <code className="font-mono text-sm text-muted" title={sum}>
        {sum.slice(0, 12)}
      </code>
      <IconButton
        label={`Copy the SHA-256 sum ${sum.slice(0, 12)}`}
        onClick={() => void copy(sum).then((isCopied) => isCopied && toast("Copied."))}
      >
        <Copy size={14} />
      </IconButton>
    </span>
  );
}

/** The messages that have the file, as far back as was looked. */
function ReferenceCell({ sum }: { sum: string }) {
  const references = useQuery(referencesQuery);
  const me = useQuery(meQuery).data;
  if (references.isError) return <span className="text-muted">not known</span>;
  if (!references.data) return null;
  const messages = references.data.messages.get(sum) ?? [];
  if (messages.length === 0) return <span className="text-muted">{references.data.isWhole ? "not sent" : "no recent message"}</span>;
  return (
    <span className="flex flex-wrap gap-x-2">
      {messages.slice(0, NAMED).map((message) => (
        <ReferenceLink key={message.id} message={message} me={me} />
      ))}
      {messages.length > NAMED ? <span className="text-muted">and {messages.length - NAMED} more</span> : null}
    </span>
  );
}

function ReferenceLink({ message, me }: { message: Message; me: Me | undefined }) {
  const place = placeOf(message, me);
  return (
    <Link {...linkTo(place, { at: message.id })} className="inline-flex min-h-6 items-center whitespace-nowrap text-accent hover:underline">
      {place.kind === "channel" ? "#" : "@"}
      {place.name}
    </Link>
  );
}
