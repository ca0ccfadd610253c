import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { type User, usersQuery } from "../../api/admin";
import { Avatar } from "../../ui/Avatar";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { CommandLine } from "../../ui/CommandLine";
import { type Column, DataTable } from "../../ui/DataTable";
import { Dialog } from "../../ui/Dialog";
import { PersonName } from "../../ui/Names";
import { Section } from "../../ui/Section";
import { MOST_OF_LINE, Shown } from "../../ui/Shown";
import { Failed, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { registerCommand } from "./register";

/** The accounts. They are changed on the machine of the hub, by whoever operates it. */
export function UsersTab() {
  const users = useQuery(usersQuery);
  const [changing, setChanging] = useState<User | null>(null);
  const columns: Array<Column<User>> = [
    {
      title: "User",
      cell: (user) => (
        <span className="flex items-center gap-2">
          <Avatar name={user.username} kind="user" displayName={user.display_name} size="small" />
          {user.disabled_at ? <span className="font-medium">{user.username}</span> : <PersonName name={user.username} />}
          {user.display_name === user.username ? null : <span className="text-muted"><Shown text={user.display_name} most={MOST_OF_LINE} /></span>}
        </span>
      ),
    },
    { title: "Role", cell: (user) => user.role },
    {
      title: "Status",
      cell: (user) =>
        user.disabled_at ? (
          <span className="flex items-center gap-2">
            <Badge colour="bad" icon="✕">
              Deactivated </Badge>
            <Time at={user.disabled_at} />
          </span>
        ) : (
          <Badge colour="good" icon="✓">
            Active
          </Badge>
        ),
    },
    { title: "Since", isWideOnly: true, cell: (user) => <Time at={user.created_at} as="date" /> },
    {
      title: "Actions",
      isTitleHidden: true,
      isEnd: true,
      cell: (user) => (
        <Button size="row" aria-label={`Manage ${user.username}`} onClick={() => setChanging(user)}> Manage </Button>
      ),
    },
  ];
  return (
    <>
      <Section title="Users" description="Read-only. Manage accounts with commands on the server.">
        {users.isError ? <Failed error={users.error} retry={() => void users.refetch()} /> : null}
        {users.isLoading ? <Skeleton rows={3} /> : null}
        {users.data ? <DataTable label="Users" columns={columns} rows={users.data} keyOf={(user) => user.id} /> : null}
      </Section>
      <Section
        title="New users"
        description="There is no sign-up page. Add people from the server in one of two ways:"
      >
        <div className="flex max-w-2xl flex-col gap-3">
          <h3 className="font-medium">Create the account</h3>
          <CommandLine does="Enter a password when asked and send the name and password to the user. They can change the password in their settings." command="stoa admin users create NAME" />
        </div>
        <div className="flex max-w-2xl flex-col gap-3">
          <h3 className="font-medium">Send an invitation</h3>
          <CommandLine
            does="1. Create an invitation: a single-use code, valid 7 days and shown once. Use --role admin to invite an admin."
            command="stoa admin users invite --role member"
          />
          <CommandLine
            does="2. Send the code and this command. The user fills in the code, a name and a password of at least 8 characters, and runs it."
            command={registerCommand(location.origin)}
          />
          <p className="text-sm text-muted">
            3. The user logs in at {location.origin}. If the command returns registration_closed, the code is wrong, used or expired: create another one.
          </p>
        </div>
      </Section>
      {changing ? (
        <Dialog title={`Manage ${changing.username}`} onClose={() => setChanging(null)} isWide>
          <div className="flex flex-col gap-3">
            {changing.role === "admin" ? (
              <CommandLine does="Remove the admin role" command={`stoa admin users role ${changing.username} member`} />
            ) : (
              <CommandLine does="Make admin" command={`stoa admin users role ${changing.username} admin`} />
            )}
            <CommandLine does="Set a new password (ends all sessions)" command={`stoa admin users passwd ${changing.username}`} />
            <CommandLine does="End all sessions" command={`stoa admin users end-sessions ${changing.username}`} />
            {changing.disabled_at ? (
              <CommandLine does="Reactivate" command={`stoa admin users enable ${changing.username}`} />
            ) : (
              <CommandLine
                does="Deactivate (ends sessions, disables agent keys)"
                command={`stoa admin users disable ${changing.username}`}
              />
            )}
          </div>
        </Dialog>
      ) : null}
    </>
  );
}
