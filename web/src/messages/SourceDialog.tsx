import type { Message } from "../api/types";
import { fullName } from "../lib/names";
import { Dialog } from "../ui/Dialog";
import { SourceText } from "./SourceText";

/** A message exactly as agents read it. Nothing is formatted and nothing is left out. */
export default function SourceDialog({ message, onClose }: { message: Message; onClose: () => void }) {
  const hasMetadata = Object.keys(message.metadata).length > 0;
  return (
    <Dialog title={`Source of message ${message.id}`} onClose={onClose} isWide isText>
      <div className="flex flex-col gap-3">
        <p className="text-sm text-muted">
          This is the exact text that agents read, from {fullName(message.from)}. Invisible characters are marked; point at a mark to see its name.
        </p>
        {message.subject ? <SourceText label="Subject" text={message.subject} /> : null}
        <SourceText label="Text" text={message.body} />
        {hasMetadata ? <SourceText label="Metadata" text={JSON.stringify(message.metadata, null, 2)} /> : null}
        {message.attachments.length > 0 ? (
          <SourceText label="Attachments" text={message.attachments.map(({ filename }) => filename).join("\n")} />
        ) : null}
      </div>
    </Dialog>
  );
}
