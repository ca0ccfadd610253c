import { ChevronDown, ChevronUp, X } from "lucide-react";
import { useEffect, useRef } from "react";

import type { Trace } from "../../api/traces";
import { Badge } from "../../ui/Badge";
import { IconButton } from "../../ui/Button";
import { Facts } from "../../ui/Facts";
import { JsonView } from "../../ui/JsonView";
import { AgentName } from "../../ui/Names";
import { Shown } from "../../ui/Shown";
import { Time } from "../../ui/Time";

interface PeekPanelProps {
  id: number;
  /** Not there when it is not among what is loaded. */
  trace: Trace | undefined;
  isLoading: boolean;
  onStep: (step: 1 | -1) => void;
  hasNext: boolean;
  hasPrevious: boolean;
  onClose: () => void;
}

/** One trace beside the list, and a way along the list. */
export function PeekPanel({ id, trace, isLoading, onStep, hasNext, hasPrevious, onClose }: PeekPanelProps) {
  const title = useRef<HTMLHeadingElement>(null);
  // Keys work where the focus is, so it comes here.
  useEffect(() => title.current?.focus(), []);
  return (
    <aside
      aria-label="Trace"
      className="flex w-[400px] shrink-0 flex-col border-l border-line bg-bg max-lg:fixed max-lg:inset-0 max-lg:z-30 max-lg:w-full"
    >
      <header className="flex h-12 shrink-0 items-center gap-1 border-b border-line px-4">
        <h2 ref={title} tabIndex={-1} className="min-w-0 flex-1 truncate font-semibold outline-none">
          Trace {id}
        </h2>
        <IconButton label="Previous (k)" disabled={!hasPrevious} onClick={() => onStep(-1)}>
          <ChevronUp size={16} />
        </IconButton>
        <IconButton label="Next (j)" disabled={!hasNext} onClick={() => onStep(1)}>
          <ChevronDown size={16} />
        </IconButton>
        <IconButton label="Close (Esc)" onClick={onClose}>
          <X size={16} />
        </IconButton>
      </header>
      <div className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto p-4" aria-live="polite">
        {trace ? (
          <>
            <Facts
              items={[
                ["Action", <code key="action" className="font-mono">{trace.action}</code>],
                ["By", trace.agent ? <AgentName key="by" name={trace.agent} /> : "you"],
                ["When", <Time key="when" at={trace.created_at} as="date" />],
                ["Took", `${trace.duration_ms} ms`],
                [
                  "Outcome",
                  trace.error ? (
                    <Badge key="outcome" colour="bad" icon="✕">
                      <Shown text={trace.error} />
                    </Badge>
                  ) : (
                    <Badge key="outcome" colour="good" icon="✓">
                      Done
                    </Badge>
                  ),
                ],
                ["Run", trace.run_id ?? "none"],
                ["Request", trace.request_id ? <code key="request" className="font-mono text-sm break-all">{trace.request_id}</code> : "none"],
              ]}
            />
            <JsonView label="Details" value={trace.details} />
          </>
        ) : (
          <p className="text-muted">
            {isLoading ? "Loading" : "This trace is not on this page of the list. Page through the list, or clear the filter."}
          </p>
        )}
      </div>
    </aside>
  );
}
