import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { X } from "lucide-react";
import { useEffect } from "react";

import { sentenceOf } from "../../api/problem";
import { deliveryQuery } from "../../api/webhooks";
import { IconButton } from "../../ui/Button";
import { MOST_OF_LINE, Shown } from "../../ui/Shown";
import { classes } from "../../ui/classes";
import { answerOf, took } from "./words";

const TITLES = { pending: "Sending the test", delivered: "Test delivered", dead: "Test failed" } as const;
const COLOURS = { pending: "text-muted", delivered: "text-approved", dead: "text-rejected" } as const;

/** The result of a test. */
export function TestResult({ id, onClose }: { id: number; onClose: () => void }) {
  const client = useQueryClient();
  const test = useQuery(deliveryQuery(id));
  const status = test.data?.status === "delivered" || test.data?.status === "dead" ? test.data.status : "pending";
  const last = test.data?.attempts.at(-1);
  useEffect(() => {
    // A test that arrives enables a webhook that failures have disabled.
    if (status !== "pending") void client.invalidateQueries({ queryKey: ["webhooks", "list"] });
    if (status !== "pending") void client.invalidateQueries({ queryKey: ["webhooks", "deliveries"] });
  }, [client, status]);
  return (
    <div role="status" aria-label="Test result" className="flex items-start gap-2 rounded-md border border-line bg-panel px-3 py-2">
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <p className="flex flex-wrap items-center gap-x-2">
          <span className={classes("font-medium", COLOURS[status])}>{test.isError ? sentenceOf(test.error) : TITLES[status]}</span>
          {last ? (
            <span>
              <Shown text={answerOf(last)} most={MOST_OF_LINE} /> in {took(last.duration_ms)}
            </span>
          ) : null}
        </p>
        {last?.response_excerpt ? (
          <p className="truncate font-mono text-sm text-muted">
            <Shown text={last.response_excerpt.replaceAll(/\s/g, " ")} most={MOST_OF_LINE} />
          </p>
        ) : null}
      </div>
      <Link to="/deliveries" search={{ peek: id }} className="inline-flex min-h-7 items-center text-accent hover:underline">
        Show request
      </Link>
      <IconButton label="Close" onClick={onClose}>
        <X size={14} />
      </IconButton>
    </div>
  );
}
