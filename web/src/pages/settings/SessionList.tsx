import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { type Session, logOut, logOutEverywhere, sessionsQuery } from "../../api/account";
import { api, ok } from "../../api/client";
import { sentenceOf } from "../../api/problem";
import { deviceOf } from "../../lib/device";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Confirm";
import { type Column, DataTable } from "../../ui/DataTable";
import { Section } from "../../ui/Section";
import { Failed, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toasts";

/** Where the person is logged in, and ending those sessions. */
export function SessionList() {
  const client = useQueryClient();
  const sessions = useQuery(sessionsQuery);
  const [isEndingAll, setEndingAll] = useState(false);
  const end = useMutation({
    mutationFn: (id: Session["id"]) => ok(api.DELETE("/auth/sessions/{id}", { params: { path: { id } } })),
    onSuccess: () => toast("Session ended"),
    onError: (error) => toast(sentenceOf(error), { isError: true }),
    onSettled: () => void client.invalidateQueries({ queryKey: sessionsQuery.queryKey }),
  });
  const leave = () => void logOut().catch((error: unknown) => toast(sentenceOf(error), { isError: true }));
  const columns: Array<Column<Session>> = [
    {
      title: "Device",
      cell: (session) => (
        <span className="flex flex-wrap items-center gap-2" title={session.user_agent ?? undefined}>
          {deviceOf(session.user_agent)}
          {session.current ? <Badge colour="good">This session</Badge> : null}
        </span>
      ),
    },
    { title: "Address", isWideOnly: true, cell: (session) => <span className="font-mono text-sm">{session.remote_ip ?? "unknown"}</span> },
    { title: "Last seen", cell: (session) => <Time at={session.last_seen_at} /> },
    { title: "Started", isWideOnly: true, cell: (session) => <Time at={session.created_at} /> },
    { title: "Expires", isWideOnly: true, cell: (session) => <Time at={session.expires_at} /> },
    {
      title: "Actions",
      isTitleHidden: true,
      isEnd: true,
      cell: (session) =>
        session.current ? (
          <Button size="row" onClick={leave}>
            Log out
          </Button>
        ) : (
          <Button
            size="row"
            disabled={end.isPending}
            aria-label={`Sign out ${deviceOf(session.user_agent)}, ${session.remote_ip ?? ""}`}
            onClick={() => end.mutate(session.id)}
          > Sign out </Button>
        ),
    },
  ];
  return (
    <Section
      title="Sessions"
      description="Where you are logged in. If you do not recognize a session, sign it out and change your password."
      action={
        <Button look="danger" onClick={() => setEndingAll(true)}>
          Log out everywhere
        </Button>
      }
    >
      {sessions.isError ? <Failed error={sessions.error} retry={() => void sessions.refetch()} /> : null}
      {sessions.isLoading ? <Skeleton rows={2} /> : null}
      {sessions.data ? <DataTable label="Sessions" columns={columns} rows={sessions.data} keyOf={(session) => session.id} /> : null}
      {isEndingAll ? (
        <Confirm
          title="Log out everywhere?"
          action="Log out everywhere"
          onClose={() => setEndingAll(false)}
          onConfirm={logOutEverywhere}
        >
          <p>Ends all your sessions, including this one. Your agents keep working.</p>
        </Confirm>
      ) : null}
    </Section>
  );
}
