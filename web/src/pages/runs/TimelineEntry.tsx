import type { ReactNode } from "react";

interface TimelineEntryProps {
  /** When it happened, in words. */
  time: ReactNode;
  icon: ReactNode;
  title: string;
  note?: ReactNode;
  /** What one can do about it, at the end of the line. */
  action?: ReactNode;
  children?: ReactNode;
}

/** One thing that happened in a run. */
export function TimelineEntry({ time, icon, title, note, action, children }: TimelineEntryProps) {
  return (
    <li className="grid grid-cols-[5.5rem_1.5rem_minmax(0,1fr)] gap-x-3 pb-5 max-sm:grid-cols-[1.5rem_minmax(0,1fr)]">
      <span className="pt-0.5 text-right text-sm text-muted tabular-nums max-sm:hidden">{time}</span>
      <span aria-hidden="true" className="flex size-6 items-center justify-center rounded-full border border-line bg-bg text-muted">
        {icon}
      </span>
      <div className="flex min-w-0 flex-col gap-2">
        <div className="flex min-h-6 flex-wrap items-center gap-x-2">
          <h2 className="font-semibold">{title}</h2>
          <span className="min-w-0 flex-1 text-muted [overflow-wrap:anywhere] max-sm:order-last max-sm:basis-full">{note}</span>
          <span className="hidden flex-1 text-sm text-muted max-sm:inline">{time}</span>
          {action}
        </div>
        {children}
      </div>
    </li>
  );
}

/** A text of a program, as it is: never as Markdown, so that nothing in it is hidden or drawn as something else. */
export function Box({ children, isCode }: { children: ReactNode; isCode?: boolean }) {
  return isCode ? (
    <pre tabIndex={0} className="max-h-44 overflow-auto rounded-md border border-line bg-panel p-3 font-mono text-sm [overflow-wrap:anywhere] whitespace-pre-wrap">
      {children}
    </pre>
  ) : (
    <div className="min-w-0 overflow-clip rounded-md border border-line px-3 py-2 [overflow-wrap:anywhere]">{children}</div>
  );
}
