import { FileText } from "lucide-react";

import type { HarnessRun } from "../../api/runs";
import { bytes } from "../../lib/bytes";
import { Badge } from "../../ui/Badge";
import { CopyButton } from "../../ui/CopyField";
import { Shown } from "../../ui/Shown";
import { Box, TimelineEntry } from "./TimelineEntry";
import { isFull } from "./steps";

const MOST_OF_PROMPT = 1200;

/** What the program was given. */
export function PromptEntry({ harness, time }: { harness: HarnessRun; time: string }) {
  const prompt = harness.prompt ?? null;
  return (
    <TimelineEntry
      time={time}
      icon={<FileText size={13} />}
      title="Prompt"
      note={
        prompt === null ? "hidden because you can no longer see all its messages" : (
          <>
            {bytes(prompt.length)} {harness.truncated && isFull(prompt) ? <CutNotice /> : null}
          </>
        )
      }
      action={prompt ? <CopyButton text={prompt} /> : null}
    >
      {prompt ? (
        <Box isCode>
          <Shown text={prompt} most={MOST_OF_PROMPT} title="The prompt" />
        </Box>
      ) : null}
    </TimelineEntry>
  );
}

/** Says that only the beginning of a text is stored. */
export function CutNotice() {
  return (
    <Badge colour="warning" icon="!">
      Cut at 32 KiB
    </Badge>
  );
}
