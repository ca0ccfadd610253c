import type { Message } from "../api/types";
import { describeRun } from "../lib/characterNames";
import { runsOf } from "../lib/hidden";
import { fullName } from "../lib/names";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { SourceText } from "./SourceText";
import { showHistory } from "./source";

/** A message exactly as agents read it. Nothing is formatted, and all of a long text can be opened. */
export default function SourceDialog({ message, onClose }: { message: Message; onClose: () => void }) {
  // A finger cannot point at a mark, so the names are there to read as well.
  const hidden = runsOf(message.body).map((run) => (run.isHidden ? run.text : "")).join("");
  const hasMetadata = Object.keys(message.metadata).length > 0;
  return (
    <Dialog title={`Source of message ${message.id}`} onClose={onClose} isWide isText>
      <div className="flex flex-col gap-3">
        <p className="text-sm text-muted">
          This is the exact text that agents read, from {fullName(message.from)}. Invisible characters are highlighted.
        </p>
        {message.subject ? <SourceText name="Subject" text={message.subject} /> : null}
        <SourceText name="Text" text={message.body} />
        {hidden ? <p className="text-sm [overflow-wrap:anywhere] text-amber">Invisible characters: {describeRun(hidden)}</p> : null}
        {hasMetadata ? <SourceText name="Metadata" text={JSON.stringify(message.metadata, null, 2)} /> : null}
        {message.attachments.length > 0 ? (
          <SourceText name="Attachments" text={message.attachments.map(({ filename }) => filename).join("\n")} />
        ) : null}
        {message.edited_at ? (
          <div>
            <Button onClick={() => showHistory(message)}>Show changes</Button>
          </div>
        ) : null}
      </div>
    </Dialog>
  );
}
