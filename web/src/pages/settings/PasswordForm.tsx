import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";

import { sessionsQuery } from "../../api/account";
import { api, ok } from "../../api/client";
import { Problem, sentenceOf } from "../../api/problem";
import { renewing } from "../../api/session";
import { Button } from "../../ui/Button";
import { Section } from "../../ui/Section";
import { FormError, TextField, fieldError } from "../../ui/TextField";
import { toast } from "../../ui/Toasts";
import { useFocusFault } from "../../ui/useFocusFault";
import { PASSWORD_RULE, passwordFault } from "./password";

/** Changes the password. */
export function PasswordForm({ username }: { username: string }) {
  const client = useQueryClient();
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const [again, setAgain] = useState("");
  const [tries, setTries] = useState(0);
  const isTried = tries > 0;
  const change = useMutation({
    mutationFn: () => renewing(() => ok(api.PUT("/auth/password", { body: { current_password: current, new_password: next } }))),
    onSuccess: () => {
      setCurrent("");
      setNext("");
      setAgain("");
      setTries(0);
      void client.invalidateQueries({ queryKey: sessionsQuery.queryKey });
      toast("Password changed. Your other sessions were ended.");
    },
  });
  const fault = passwordFault(next);
  const differs = again !== "" && again !== next ? "The passwords do not match." : undefined;
  const isWrong = change.error instanceof Problem && change.error.code === "invalid_credentials";
  const form = useFocusFault<HTMLFormElement>(isWrong ? change.error : tries);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTries((count) => count + 1);
    if (current && next && again && !fault && !differs) change.mutate();
  };
  return (
    <Section title="Password" description="Changing it ends your other sessions. Agents and their keys keep working.">
      <form ref={form} className="flex max-w-md flex-col gap-3" onSubmit={submit} noValidate>
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
          error={isTried && !current ? "Enter your current password." : isWrong ? sentenceOf(change.error) : undefined}
        />
        <TextField
          label="New password"
          type="password"
          autoComplete="new-password"
          hint={PASSWORD_RULE}
          value={next}
          onChange={setNext}
          error={isTried && !next ? "Enter a new password." : (fault ?? fieldError(change.error, "new_password"))}
        />
        <TextField
          label="Confirm new password"
          type="password"
          autoComplete="new-password"
          value={again}
          onChange={setAgain}
          error={isTried && !again ? "Confirm the new password." : differs}
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
