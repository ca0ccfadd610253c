import { CopyButton } from "../../ui/CopyField";
import { Shown } from "../../ui/Shown";
import { Box } from "./TimelineEntry";

/** A log of a program, as plain text. */
export function LogPart({ title, text }: { title: string; text: string }) {
  return (
    <section aria-label={title} className="flex flex-col gap-2 border-t border-line px-6 py-3 max-md:px-4">
      <div className="flex items-center gap-2">
        <h2 className="flex-1 font-semibold">{title}</h2>
        <CopyButton text={text} />
      </div>
      <Box isCode>
        <Shown text={text} title={title} />
      </Box>
    </section>
  );
}
