import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";

import { type Session, logOut, sessionsQuery } from "../../api/account";
import { api, ok } from "../../api/client";
import { Problem, sentenceOf } from "../../api/problem";
import { meQuery } from "../../api/queries";
import { renewing } from "../../api/session";
import type { Me } from "../../api/types";
import { deviceOf } from "../../lib/device";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { type Column, DataTable } from "../../ui/DataTable";
import { Confirm } from "../../ui/Dialog";
import { Section } from "../../ui/Section";
import { Failed, Skeleton } from "../../ui/States";
import { FormError, TextField, fieldError } from "../../ui/TextField";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toasts";
import { PASSWORD_RULE, passwordFault } from "./password";

/** The person's name, password and sessions. */
export function ProfilePage() {
  const me = useQuery(meQuery).data;
  return me ? (
    <>
      <DisplayName me={me} />
      <Password username={me.user.username} />
      <Sessions />
    </>
  ) : (
    <Skeleton />
  );
}

function DisplayName({ me }: { me: Me }) {
  const client = useQueryClient();
  const [name, setName] = useState(me.user.display_name);
  const save = useMutation({
    mutationFn: () => ok(api.PUT("/auth/profile", { body: { display_name: name.trim() } })),
    onSuccess: ({ user }) => {
      client.setQueryData<Me>(meQuery.queryKey, (now) => now && { ...now, user });
      setName(user.display_name);
      toast("Your name is saved.");
    },
  });
  return (
    <Section title="Name" description={`You log in as ${me.user.username}, and others mention you as @${me.user.username}. That name cannot be changed.`}>
      <form
        className="flex max-w-md flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <TextField
          label="Display name"
          required
          maxLength={100}
          autoComplete="name"
          value={name}
          onChange={setName}
          error={fieldError(save.error, "display_name")}
        />
        <FormError error={save.error} shown={["display_name"]} />
        <div>
          <Button type="submit" size="form" look="filled" disabled={save.isPending || !name.trim() || name.trim() === me.user.display_name}>
            Save
          </Button>
        </div>
      </form>
    </Section>
  );
}

function Password({ username }: { username: string }) {
  const client = useQueryClient();
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const [again, setAgain] = useState("");
  const [isTried, setTried] = useState(false);
  const change = useMutation({
    mutationFn: () => renewing(() => ok(api.PUT("/auth/password", { body: { current_password: current, new_password: next } }))),
    onSuccess: () => {
      setCurrent("");
      setNext("");
      setAgain("");
      setTried(false);
      void client.invalidateQueries({ queryKey: sessionsQuery.queryKey });
      toast("Your password is changed. All your other sessions have ended.");
    },
  });
  const fault = passwordFault(next);
  const differs = again !== "" && again !== next ? "It is not the same as the new password." : undefined;
  const isWrong = change.error instanceof Problem && change.error.code === "invalid_credentials";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (current && next && again && !fault && !differs) change.mutate();
  };
  return (
    <Section title="Password" description="A new password ends all your other sessions. Your agents and their keys keep working.">
      <form className="flex max-w-md flex-col gap-3" onSubmit={submit} noValidate>
        {/* For password managers, which want to know whose password it is. */}
        <input type="text" name="username" autoComplete="username" value={username} readOnly hidden />
        <TextField
          label="Current password"
          type="password"
          autoComplete="current-password"
          value={current}
          onChange={(text) => {
            setCurrent(text);
            if (isWrong) change.reset();
          }}
          error={isTried && !current ? "Type the password that you have now." : isWrong ? sentenceOf(change.error) : undefined}
        />
        <TextField
          label="New password"
          type="password"
          autoComplete="new-password"
          hint={PASSWORD_RULE}
          value={next}
          onChange={setNext}
          error={isTried && !next ? "Type a new password." : (fault ?? fieldError(change.error, "new_password"))}
        />
        <TextField
          label="New password again"
          type="password"
          autoComplete="new-password"
          value={again}
          onChange={setAgain}
          error={isTried && !again ? "Type the new password once more." : differs}
        />
        {isWrong ? null : <FormError error={change.error} shown={["new_password"]} />}
        <div>
          <Button type="submit" size="form" disabled={change.isPending}>
            Change password
          </Button>
        </div>
      </form>
    </Section>
  );
}

function Sessions() {
  const client = useQueryClient();
  const sessions = useQuery(sessionsQuery);
  const [isEndingAll, setEndingAll] = useState(false);
  const end = useMutation({
    mutationFn: (id: Session["id"]) => ok(api.DELETE("/auth/sessions/{id}", { params: { path: { id } } })),
    onSuccess: () => toast("The session has ended."),
    onError: (error) => toast(sentenceOf(error), { isError: true }),
    onSettled: () => void client.invalidateQueries({ queryKey: sessionsQuery.queryKey }),
  });
  const leave = () => void logOut().catch((error: unknown) => toast(sentenceOf(error), { isError: true }));
  const columns: Array<Column<Session>> = [
    {
      title: "Where",
      cell: (session) => (
        <span className="flex flex-wrap items-center gap-2" title={session.user_agent ?? undefined}>
          {deviceOf(session.user_agent)}
          {session.current ? <Badge colour="good">This session</Badge> : null}
        </span>
      ),
    },
    { title: "Address", isWideOnly: true, cell: (session) => <span className="font-mono text-sm">{session.remote_ip ?? "unknown"}</span> },
    { title: "Last seen", cell: (session) => <Time at={session.last_seen_at} /> },
    { title: "Began", isWideOnly: true, cell: (session) => <Time at={session.created_at} /> },
    { title: "Ends", isWideOnly: true, cell: (session) => <Time at={session.expires_at} /> },
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
            aria-label={`End the session of ${deviceOf(session.user_agent)}, ${session.remote_ip ?? ""}`}
            onClick={() => end.mutate(session.id)}
          >
            End
          </Button>
        ),
    },
  ];
  return (
    <Section
      title="Sessions"
      description="Where you are logged in. End any session that you do not recognise, then change your password."
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
          onConfirm={async () => {
            await ok(api.DELETE("/auth/sessions"));
            location.assign("/login");
          }}
        >
          <p>All your sessions end, this one too. Your agents keep working.</p>
        </Confirm>
      ) : null}
    </Section>
  );
}
