import { KeyRound } from "lucide-react";

import { CopyButton } from "./CopyField";

/** A secret that is shown this one time. */
export function SecretOnce({ label, secret }: { label: string; secret: string }) {
  return (
    <div className="flex flex-col gap-2">
      <div className="flex items-center gap-2 rounded-md border border-control bg-panel p-1.5 pl-3">
        <code aria-label={label} role="textbox" aria-readonly="true" tabIndex={0} className="min-w-0 flex-1 font-mono text-sm break-all select-all">
          {secret}
        </code>
        <CopyButton text={secret} />
      </div>
      <p className="flex items-start gap-2 text-sm text-amber">
        <KeyRound size={14} aria-hidden="true" className="mt-0.5 shrink-0" />
        Shown only once. Store it in a safe place.
      </p>
    </div>
  );
}
