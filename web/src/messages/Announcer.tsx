import { useEffect, useRef, useState } from "react";

import type { Message } from "../api/types";
import { announcementOf } from "./announce";

/** Nobody can listen to more. */
const PAUSE_MS = 3000;

/**
 * Tells of new messages to whoever listens, while they follow the conversation: the list itself puts lines in and out as one scrolls, so it
 * is silent. What comes close together is told together.
 */
export function Announcer({ messages, me, isFollowing }: { messages: Message[]; me: string | undefined; isFollowing: boolean }) {
  const [text, setText] = useState("");
  const told = useRef<number | null>(null);
  const waiting = useRef<Message[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const last = useRef(0);
  useEffect(() => {
    const newest = messages.at(-1)?.id ?? 0;
    if (told.current !== null && isFollowing) {
      const after = told.current;
      const news = messages.filter((message) => message.id > after && message.from.name !== me && !message.deleted_at);
      waiting.current.push(...news);
    }
    told.current = Math.max(newest, told.current ?? 0);
    if (waiting.current.length === 0 || timer.current !== undefined) return;
    const tell = () => {
      timer.current = undefined;
      last.current = Date.now();
      setText(announcementOf(waiting.current));
      waiting.current = [];
    };
    timer.current = setTimeout(tell, Math.max(0, last.current + PAUSE_MS - Date.now()));
  }, [messages, me, isFollowing]);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  return (
    <div aria-live="polite" className="sr-only">
      {text}
    </div>
  );
}
