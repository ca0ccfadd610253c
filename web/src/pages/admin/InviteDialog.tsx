import { useState } from "react";

import { useMe } from "../../shell/me";
import { Button } from "../../ui/Button";
import { CommandLine } from "../../ui/CommandLine";
import { Dialog } from "../../ui/Dialog";
import { SelectField, TextField } from "../../ui/TextField";
import { type InvitedRole, VALIDITIES, inviteCommand } from "./inviteCommand";

const LONGEST_NOTE = 100;

/** How to invite a person. Only operators of the hub create invitations, so it gives the command for one. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const me = useMe();
  const [note, setNote] = useState("");
  const [role, setRole] = useState<InvitedRole>("member");
  const [valid, setValid] = useState("7d");
  const choose = (next: InvitedRole) => {
    setRole(next);
    setValid(VALIDITIES[next][0]![0]);
  };
  return (
    <Dialog title="Invite a person" onClose={onClose} isWide>
      <div className="flex flex-col gap-4">
        <div className="grid grid-cols-[2fr_1fr_1fr] gap-3 max-sm:grid-cols-1">
          <TextField label="For (only admins see this)" autoComplete="off" placeholder="Jonas Weber" maxLength={LONGEST_NOTE} value={note} onChange={setNote} />
          <SelectField label="Role" value={role} onChange={(value) => choose(value === "admin" ? "admin" : "member")}>
            <option value="member">Member</option>
            <option value="admin">Admin</option>
          </SelectField>
          <SelectField label="Valid for" value={valid} onChange={setValid}>
            {VALIDITIES[role].map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </SelectField>
        </div>
        <CommandLine does="Run this command on the server:" command={inviteCommand({ from: me?.user.username ?? "admin", note, role, valid })} />
        <p className="text-sm text-muted">
          It prints a link to send. The link creates one account and works once. It is printed only then: if you lose it, revoke the
          invitation and create another.
        </p>
        <details>
          <summary className="cursor-pointer py-1 text-accent pointer-coarse:py-3">Or create the account yourself</summary>
          <div className="mt-2">
            <CommandLine does="It asks for a password, which the person can change later." command="stoa admin users create NAME" />
          </div>
        </details>
        <div className="flex justify-end">
          <Button size="form" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
