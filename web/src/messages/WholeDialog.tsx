import { bytes } from "../lib/bytes";
import { CopyButton } from "../ui/CopyField";
import { Dialog } from "../ui/Dialog";
import { type Whole, whole } from "../ui/whole";
import { LongText } from "./LongText";

/** All of a long text. Only what is in sight is drawn, so it can be copied here as a whole. */
export default function WholeDialog({ shown, onClose }: { shown: Whole; onClose: () => void }) {
  const { title, text, isMarkdown } = shown;
  return (
    <Dialog title={title} onClose={onClose} isWide isText>
      <div
        className="flex flex-col gap-3"
        onClick={(event) => {
          // A link to a channel leads away from here.
          if ((event.target as Element).closest("a.channel")) onClose();
        }}
      >
        <div className="flex items-center gap-2 text-sm text-muted">
          <span className="flex-1">{bytes(text.length)}. Scroll to read more.</span>
          <CopyButton text={text} label="Copy all" />
        </div>
        <LongText text={text} isMarkdown={isMarkdown} onSource={() => whole.set({ title: "Source", text })} />
      </div>
    </Dialog>
  );
}
