import { PencilLine } from "lucide-react";

import type { Message } from "../api/types";
import { Button } from "../ui/Button";
import { lapsedWords } from "./lapsed";
import { showHistory } from "./source";

/** Says that an approval was of an earlier text, and leads to what changed. */
export default function LapsedApprovals({ message, me }: { message: Message; me: string | undefined }) {
  const words = lapsedWords(message, me);
  if (!words) return null;
  return (
    <span className="inline-flex flex-wrap items-center gap-2">
      <span className="inline-flex min-h-5 items-center gap-1 rounded-sm bg-[color-mix(in_srgb,currentColor_9%,var(--bg))] px-1.5 text-xs font-medium text-amber">
        <PencilLine size={12} aria-hidden="true" />
        {words}
      </span>
      <Button size="row" onClick={() => showHistory(message)}>
        Show changes
      </Button>
    </span>
  );
}
