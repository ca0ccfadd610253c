import { useState } from "react";

import { Choice } from "../../ui/Choice";
import { CopyField } from "../../ui/CopyField";
import { Dialog } from "../../ui/Dialog";
import { SNIPPETS, type SnippetName } from "./snippets";

/** How a receiver knows that a request comes from the hub. */
export function VerifyDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState<SnippetName>("javascript");
  const snippet = SNIPPETS.find((one) => one.name === name)!;
  return (
    <Dialog title="Verify signatures" onClose={onClose} isWide>
      <div className="flex flex-col gap-4">
        <p>
          Deliveries follow Standard Webhooks: the header <code className="font-mono text-sm">webhook-signature</code> signs the id, the timestamp and the raw body with the webhook's secret.
        </p>
        <Choice label="Language" value={name} onChange={setName} options={SNIPPETS.map((one) => ({ value: one.name, label: one.label }))} />
        <CopyField title={snippet.file} text={snippet.text.trimEnd()} />
        <ul className="list-disc pl-5 text-muted">
          <li>{snippet.library}</li>
          <li>Verify the raw body before you parse it.</li>
          <li>
            Remember <code className="font-mono text-sm">webhook-id</code>: it is the same for every attempt, and a delivery can arrive twice.
          </li>
          <li>Respond with 2xx within 15 seconds.</li>
        </ul>
      </div>
    </Dialog>
  );
}
