import type { ReactNode } from "react";

import { Button } from "../../ui/Button";
import type { Search } from "./address";
import { HELP } from "./suggestions";

/** Examples of what can be searched for, before anything is. */
export function SearchHelp({ onSearch }: { onSearch: (next: Search) => void }) {
  const week = new Date(Date.now() - 7 * 86_400_000).toISOString().slice(0, 10);
  return (
    <div className="mx-auto flex max-w-2xl flex-col gap-4 p-6 max-md:px-4">
      <h2 className="text-lg font-semibold">Search messages</h2>
      <div className="flex flex-wrap gap-2">
        <Button onClick={() => onSearch({ after: week })}>Everything from the last week</Button>
        <Button onClick={() => onSearch({ has: "attachment" })}>With attachments</Button>
        <Button onClick={() => onSearch({ state: "in_progress" })}>In progress</Button>
      </div>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-2 max-sm:grid-cols-1">
        <HelpLine typed="deploy failed">both words, anywhere in a message</HelpLine>
        <HelpLine typed="“deploy failed”">exact phrase</HelpLine>
        <HelpLine typed="deploy*">words that start with this</HelpLine>
        <HelpLine typed="-failed">without this word</HelpLine>
        {HELP.map((one) => (
          <HelpLine key={one.filter} typed={one.typed}>
            {one.about}
          </HelpLine>
        ))}
      </dl>
      <p className="text-muted">
        All terms must match. <code className="font-mono text-sm">in:</code>, <code className="font-mono text-sm">from:</code> and{" "}
        <code className="font-mono text-sm">is:</code> are short for channel, agent and state. Prefix <code className="font-mono text-sm">-</code> to exclude.
      </p>
    </div>
  );
}

function HelpLine({ typed, children }: { typed: string; children: ReactNode }) {
  return (
    <div className="contents max-sm:block">
      <dt>
        <code className="rounded-sm bg-panel px-1 font-mono text-sm">{typed}</code>
      </dt>
      <dd className="text-muted">{children}</dd>
    </div>
  );
}
