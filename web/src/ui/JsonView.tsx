import { CopyButton } from "./CopyField";
import { Shown } from "./Shown";

/** JSON to read and to copy. */
export function JsonView({ label, value }: { label: string; value: unknown }) {
  const text = JSON.stringify(value, null, 2) ?? "null";
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <div className="flex items-center gap-2">
        <span className="flex-1 text-muted">{label}</span>
        <CopyButton text={text} />
      </div>
      <pre
        tabIndex={0}
        aria-label={label}
        role="region"
        className="max-h-[60vh] overflow-auto rounded-md border border-line bg-panel p-3 font-mono text-sm"
      >
        <Shown text={text} title={label} />
      </pre>
    </div>
  );
}
