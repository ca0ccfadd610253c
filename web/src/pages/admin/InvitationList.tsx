import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { type Invitation, invitationsQuery, revokeInvitation } from "../../api/invitations";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Confirm";
import { type Column, DataTable } from "../../ui/DataTable";
import { PersonName } from "../../ui/Names";
import { Section } from "../../ui/Section";
import { MOST_OF_LINE, Shown } from "../../ui/Shown";
import { Failed, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toasts";

/** What the invitation is called where it has no note. */
const labelOf = ({ id, note }: Invitation) => note || `invitation ${id}`;

/** The invitations that operators created, and what became of each. */
export function InvitationList() {
  const client = useQueryClient();
  const invitations = useQuery(invitationsQuery);
  const [revoking, setRevoking] = useState<Invitation | null>(null);
  const columns: Array<Column<Invitation>> = [
    {
      title: "For",
      cell: ({ note }) => (note ? <Shown text={note} most={MOST_OF_LINE} /> : <span className="text-muted">no note</span>),
    },
    { title: "Role", cell: ({ role }) => role },
    {
      title: "Invited by",
      isWideOnly: true,
      cell: ({ invited_by, created_at }) => (
        <span className="flex flex-wrap items-baseline gap-x-2">
          {invited_by ? <PersonName name={invited_by} /> : "operator"}
          <Time at={created_at} />
        </span>
      ),
    },
    { title: "Status", cell: (one) => <InvitationStatus invitation={one} /> },
    { title: "Expires", cell: ({ status, expires_at }) => (status === "open" ? <Time at={expires_at} /> : null) },
    {
      title: "Actions",
      isTitleHidden: true,
      isEnd: true,
      cell: (one) =>
        one.status === "open" ? (
          <Button size="row" aria-label={`Revoke ${labelOf(one)}`} onClick={() => setRevoking(one)}>
            Revoke
          </Button>
        ) : null,
    },
  ];
  return (
    <Section title="Invitations" description="Each creates one account. The link is shown only when it is created.">
      {invitations.isError ? <Failed error={invitations.error} retry={() => void invitations.refetch()} /> : null}
      {invitations.isLoading ? <Skeleton rows={2} /> : null}
      {invitations.data?.length === 0 ? <p className="text-muted">No invitations yet. “Invite person” above shows the command that creates one.</p> : null}
      {invitations.data?.length ? <DataTable label="Invitations" columns={columns} rows={invitations.data} keyOf={({ id }) => id} /> : null}
      {revoking ? (
        <Confirm
          title="Revoke this invitation?"
          action="Revoke invitation"
          onClose={() => setRevoking(null)}
          onConfirm={async () => {
            await revokeInvitation(client, revoking.id);
            toast("Invitation revoked.");
          }}
        >
          <p>
            {revoking.note ? (
              <>
                The link for “<Shown text={revoking.note} most={MOST_OF_LINE} />”
              </>
            ) : (
              "Its link"
            )}{" "}
            stops working at once. This cannot be undone.
          </p>
        </Confirm>
      ) : null}
    </Section>
  );
}

function InvitationStatus({ invitation: { status, used_by, used_at } }: { invitation: Invitation }) {
  switch (status) {
    case "open":
      return <Badge colour="good">Open</Badge>;
    case "used":
      return (
        <span className="flex flex-wrap items-baseline gap-x-1.5">
          Used by {used_by ? <PersonName name={used_by} /> : "a deleted account"}
          {used_at ? <Time at={used_at} /> : null}
        </span>
      );
    case "revoked":
      return <Badge colour="bad">Revoked</Badge>;
    case "expired":
      return <Badge>Expired</Badge>;
  }
}
