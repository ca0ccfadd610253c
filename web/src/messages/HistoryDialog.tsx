import { useQuery } from "@tanstack/react-query";
import { Check } from "lucide-react";

import { historyQuery } from "../api/history";
import { meQuery } from "../api/queries";
import type { Message } from "../api/types";
import { Dialog } from "../ui/Dialog";
import { Failed, Skeleton } from "../ui/States";
import { Time } from "../ui/Time";
import { SourceText } from "./SourceText";
import { approvalWords, revisionsOf } from "./history";

/** The texts that a message has had, newest first, with who approved which. */
export default function HistoryDialog({ message, onClose }: { message: Message; onClose: () => void }) {
  const history = useQuery(historyQuery(message.id));
  const me = useQuery(meQuery).data?.user.username;
  return (
    <Dialog title={`Edit history of message ${message.id}`} onClose={onClose} isWide isText>
      {history.isError ? <Failed error={history.error} retry={() => void history.refetch()} /> : null}
      {history.isLoading ? <Skeleton rows={2} /> : null}
      <div className="flex flex-col gap-4">
        {revisionsOf(history.data ?? []).map(({ revision, body, written_at, approvals, change, isCurrent }) => {
          const words = approvalWords(approvals, me);
          return (
            <SourceText
              key={revision}
              name={isCurrent ? "Text now" : `Text ${revision}`}
              note={
                <>
                  <span className="font-normal text-muted">
                    <Time at={written_at} />
                  </span>
                  {words ? (
                    <span className="inline-flex items-center gap-1 text-approved">
                      <Check size={13} aria-hidden="true" />
                      {words}
                    </span>
                  ) : null}
                </>
              }
              text={body}
              change={change}
            />
          );
        })}
      </div>
    </Dialog>
  );
}
