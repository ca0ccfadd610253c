import { CopyButton } from "./CopyField";

/** A command to type elsewhere, and what it does. */
export function CommandLine({ does, command }: { does: string; command: string }) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <span className="text-sm text-muted">{does}</span>
      <div className="flex min-w-0 items-center gap-2">
        <code className="min-w-0 flex-1 rounded-md border border-line bg-panel px-2 py-1 font-mono text-sm [overflow-wrap:anywhere] whitespace-pre-wrap">
          {/* Without boxes around its words, a line could end between the dashes and the name of an option. */}
          {command.split(/( +)/).map((word, at) => (at % 2 ? word : <span key={at} className="inline-block max-w-full">{word}</span>))}
        </code>
        <CopyButton text={command} />
      </div>
    </div>
  );
}
