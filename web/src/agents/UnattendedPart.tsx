import { CopyField } from "../ui/CopyField";
import type { ClientName } from "./clients";
import { UNATTENDED } from "./unattended";

/** What to add for runs that no person watches. */
export function Unattended({ client, usesKey }: { client: ClientName; usesKey: boolean }) {
  const additions = UNATTENDED[client];
  if (!additions) return null;
  return (
    <details>
      <summary className="cursor-pointer py-1 text-accent pointer-coarse:py-3">For unattended runs</summary>
      <div className="mt-2 flex flex-col gap-4">
        <p>
          These settings are for clients that a person watches. Add the following where you start the client yourself and nobody is there
          to allow tools. If Stoa should start it for each message, choose it in the tab “Runs” instead: nothing must be added there.{usesKey ? null : " Choose “Key” above as well, because nobody can log in there."}
        </p>
        {additions.map(({ title, text, why }) => (
          <div key={title} className="flex flex-col gap-1">
            <CopyField title={title} text={text} />
            <p className="text-sm text-muted">{why}</p>
          </div>
        ))}
      </div>
    </details>
  );
}
