import { useEffect, useState } from "react";

import { load, save } from "../lib/storage";
import { useStore } from "../lib/store";
import { filesOf, returned } from "./drafts";

/** The text of a draft, which the browser keeps until it is sent. */
export function useDraftText(draft: string) {
  const [body, setBody] = useState(() => load(draft, ""));
  const times = useStore(returned);
  useEffect(() => {
    setBody(load(draft, ""));
    filesOf(draft);
  }, [draft, times]);
  const change = (text: string) => {
    setBody(text);
    save(draft, text);
  };
  useEffect(() => {
    // When another tab sends the same draft, it must disappear here, or it would be sent twice.
    const onStorage = ({ key, oldValue, newValue }: StorageEvent) => {
      if (key === draft && newValue === null) setBody((now) => (JSON.stringify(now) === oldValue ? "" : now));
    };
    window.addEventListener("storage", onStorage);
    return () => window.removeEventListener("storage", onStorage);
  }, [draft]);
  const sent = () => {
    setBody("");
    // Another tab may have saved a different text in the meantime.
    if (load(draft, "") === body) save(draft, "");
  };
  return { body, change, sent };
}
