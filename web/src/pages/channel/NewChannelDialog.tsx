import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useLayoutEffect, useRef, useState } from "react";

import { api, ok } from "../../api/client";
import { useRepeatKey } from "../../lib/repeat";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Field, INPUT } from "../../ui/Field";
import { FormError, TextField, fieldError } from "../../ui/TextField";
import { channelName, wholeName } from "./name";

/** Makes a channel, and goes there. */
export default function NewChannelDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [typed, setTyped] = useState("");
  const [topic, setTopic] = useState("");
  const [isPublic, setPublic] = useState(true);
  const name = wholeName(channelName(typed));
  const request = { name, topic, description: "", public: isPublic };
  const repeat = useRepeatKey(request);
  const make = useMutation({
    mutationFn: () => ok(api.POST("/api/channels", { params: { header: { "Idempotency-Key": repeat } }, body: request })),
    onSuccess: (made) => {
      void client.invalidateQueries({ queryKey: ["channels"] });
      onClose();
      void navigate({ to: "/channels/$name", params: { name: made.channel.name } });
    },
  });
  return (
    <Dialog title="New channel" onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <Field
          label="Name"
          hint={name ? `Will be created as #${name}` : "Lowercase letters, digits, - and _"}
          error={fieldError(make.error, "name")}
        >
          {(wiring) => <NameInput {...wiring} value={typed} onChange={setTyped} />}
        </Field>
        <TextField
          label="Topic"
          hint="One-line topic. You can change it later."
          error={fieldError(make.error, "topic")}
          value={topic}
          onChange={setTopic}
          maxLength={250}
          autoComplete="off"
        />
        <label className="flex min-h-6 items-center gap-2 pointer-coarse:min-h-11">
          <input type="checkbox" checked={isPublic} onChange={(event) => setPublic(event.target.checked)} />
          Public
        </label>
        <FormError error={make.error} shown={["name", "topic"]} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button size="form" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="filled" size="form" disabled={make.isPending || !name}>
            Create channel
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** What is typed becomes a name at once, and the caret stays where one types. */
function NameInput({ value, onChange, ...wiring }: { id: string; value: string; onChange: (value: string) => void }) {
  const field = useRef<HTMLInputElement>(null);
  const caret = useRef<number | null>(null);
  useLayoutEffect(() => {
    if (caret.current !== null) field.current?.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  });
  const clean = ({ value: typed, selectionStart }: HTMLInputElement) => {
    const name = channelName(typed);
    // React puts the caret at the end where it writes something else than was typed.
    if (name !== typed) caret.current = channelName(typed.slice(0, selectionStart ?? typed.length)).length;
    onChange(name);
  };
  return (
    <input
      {...wiring}
      ref={field}
      autoFocus
      required
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      value={value}
      onChange={(event) => {
        // What is put together from several keys is not to be changed on the way.
        if ((event.nativeEvent as InputEvent).isComposing) onChange(event.target.value);
        else clean(event.target);
      }}
      onCompositionEnd={(event) => clean(event.currentTarget)}
      className={INPUT}
    />
  );
}
