import type { Trace } from "../../api/traces";
import { RunLink } from "../../runs/RunLink";
import { Badge } from "../../ui/Badge";
import { Facts } from "../../ui/Facts";
import { JsonView } from "../../ui/JsonView";
import { AgentName } from "../../ui/Names";
import { PeekPane } from "../../ui/PeekPane";
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
  return (
    <PeekPane label="Trace" title={`Trace ${id}`} onStep={onStep} hasNext={hasNext} hasPrevious={hasPrevious} onClose={onClose}>
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
              ["Run", trace.run_id ? <RunLink key="run" id={trace.run_id} /> : "none"],
              ["Request", trace.request_id ? <code key="request" className="font-mono text-sm break-all">{trace.request_id}</code> : "none"],
            ]}
          />
          <JsonView label="Details" value={trace.details} />
        </>
      ) : (
        <p className="text-muted">
          {isLoading ? "Loading" : "This trace is not on the current page. Go to another page or clear the filter."}
        </p>
      )}
    </PeekPane>
  );
}
