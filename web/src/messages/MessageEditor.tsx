import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, ok } from "../api/client";
import { sentenceOf } from "../api/problem";
import type { Message } from "../api/types";
import { person } from "../lib/person";
import { load, save as keep } from "../lib/storage";
import { Button } from "../ui/Button";
import { changeMessage } from "./cache";
import { editing } from "./editing";

/** Changes what one has said. Few messages are edited, so it is loaded with the first. */
export default function MessageEditor({ message }: { message: Message }) {
  const client = useQueryClient();
  // It is kept like a draft: a message that is scrolled away is taken out of the page, and a session may end.
  const draft = `stoa.draft.${person.get()}.edit.${message.id}`;
  const [body, setBody] = useState(() => load(draft, message.body));
  const change = (text: string) => {
    setBody(text);
    keep(draft, text === message.body ? null : text);
  };
  const close = () => {
    keep(draft, null);
    editing.set(null);
  };
  const [error, setError] = useState<string | null>(null);
  const save = async () => {
    try {
      const changed = await ok(api.PATCH("/api/messages/{id}", { params: { path: { id: message.id } }, body: { body } }));
      changeMessage(client, message.id, () => changed);
      close();
    } catch (problem) {
      setError(sentenceOf(problem));
    }
  };
  return (
    <form
      className="flex flex-col gap-2 px-6 py-2 pl-[4.25rem]"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <textarea
        aria-label="Edit your message"
        value={body}
        autoFocus
        rows={Math.min(12, body.split("\n").length + 1)}
        onChange={(event) => change(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            // The thread that it may be in stays open.
            event.preventDefault();
            close();
          }
          if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault();
            void save();
          }
        }}
        className="w-full resize-none rounded-md border border-control bg-bg p-2"
      />
      {error ? (
        <p role="alert" className="text-rejected">
          {error}
        </p>
      ) : null}
      <div className="flex gap-2">
        <Button type="submit" look="filled" disabled={!body.trim()}>
          Save
        </Button>
        <Button onClick={close}>Cancel</Button>
      </div>
    </form>
  );
}
