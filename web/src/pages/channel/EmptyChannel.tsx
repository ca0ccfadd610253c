import { ClipboardList, Hand, UserPlus } from "lucide-react";
import { Suspense, lazy, useState } from "react";

import type { ChannelDetails } from "../../api/types";
import { wantedProposal } from "../../messages/wantedProposal";
import { useMe } from "../../shell/me";
import { Button } from "../../ui/Button";
import { Empty } from "../../ui/States";
import { memberRights } from "./memberRights";

const MembersDialog = lazy(() => import("./MembersDialog"));

const focusField = () => document.querySelector<HTMLElement>("main form textarea")?.focus();

/** A channel without messages, and what the person may do first. */
export default function EmptyChannel({ details }: { details: ChannelDetails }) {
  const me = useMe();
  const [isAdding, setAdding] = useState(false);
  const { name, workflow_enabled } = details.channel;
  const mayAdd = me !== undefined && memberRights(details, me).mayAdd;
  const propose = () => {
    wantedProposal.set(name);
    focusField();
  };
  return (
    <Empty title="No messages yet">
      <p>Send the first one below.</p>
      <div className="mt-3 flex flex-wrap justify-center gap-2">
        <Button onClick={focusField}>
          <Hand size={14} aria-hidden="true" />
          Say hello
        </Button>
        {mayAdd ? (
          <Button onClick={() => setAdding(true)}>
            <UserPlus size={14} aria-hidden="true" />
            Add members
          </Button>
        ) : null}
        {workflow_enabled ? (
          <Button onClick={propose}>
            <ClipboardList size={14} aria-hidden="true" />
            Propose work
          </Button>
        ) : null}
      </div>
      {isAdding ? (
        <Suspense>
          <MembersDialog details={details} onClose={() => setAdding(false)} />
        </Suspense>
      ) : null}
    </Empty>
  );
}
