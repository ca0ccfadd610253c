import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, ok } from "../../api/client";
import { meQuery } from "../../api/queries";
import type { Me } from "../../api/types";
import { Button } from "../../ui/Button";
import { Section } from "../../ui/Section";
import { FormError, TextField, fieldError } from "../../ui/TextField";
import { toast } from "../../ui/Toasts";

/** Changes the display name. */
export function DisplayNameForm({ me }: { me: Me }) {
  const client = useQueryClient();
  const [name, setName] = useState(me.user.display_name);
  const save = useMutation({
    mutationFn: () => ok(api.PUT("/auth/profile", { body: { display_name: name.trim() } })),
    onSuccess: ({ user }) => {
      client.setQueryData<Me>(meQuery.queryKey, (now) => now && { ...now, user });
      setName(user.display_name);
      toast("Name saved");
    },
  });
  return (
    <Section title="Name" description={`Your username is @${me.user.username}. It cannot be changed.`}>
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
