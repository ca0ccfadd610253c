import { Check, Copy } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";

import { Button } from "./Button";
import { copy } from "./copy";

const SAID_MS = 3000;

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return (
    <Button onClick={() => void copy(text).then(setCopied)}>
      {isCopied ? <Check size={14} aria-hidden="true" className="text-approved" /> : <Copy size={14} aria-hidden="true" />}
      <span aria-live="polite">{isCopied ? "Copied" : label}</span>
    </Button>
  );
}

/** A text to take elsewhere: a command, a file. What is shown may be shorter than what is copied. */
export function CopyField({ title, text, shown = text }: { title: ReactNode; text: string; shown?: string }) {
  return (
    <figure className="min-w-0 overflow-hidden rounded-md border border-line bg-panel">
      <figcaption className="flex min-h-10 items-center gap-2 border-b border-line py-1 pr-1.5 pl-3 text-muted">
        <span className="min-w-0 flex-1 truncate">{title}</span>
        <CopyButton text={text} />
      </figcaption>
      <pre tabIndex={0} className="overflow-x-auto p-3 font-mono text-sm">
        <code>{shown}</code>
      </pre>
    </figure>
  );
}
