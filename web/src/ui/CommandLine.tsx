import { CopyButton } from "./CopyField";

/** A command to type elsewhere, and what it does. */
export function CommandLine({ does, command }: { does: string; command: string }) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <span className="text-sm text-muted">{does}</span>
      <div className="flex min-w-0 items-center gap-2">
        <code
          tabIndex={0}
          className="min-w-0 flex-1 overflow-x-auto rounded-md border border-line bg-panel px-2 py-1 font-mono text-sm whitespace-nowrap"
        >
          {command}
        </code>
        <CopyButton text={command} />
      </div>
    </div>
  );
}
