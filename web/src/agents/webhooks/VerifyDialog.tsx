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
          Deliveries follow Standard Webhooks: the header <code className="font-mono text-sm">webhook-signature</code> signs the id, the time and
          the raw bytes of the body with the secret of the webhook.
        </p>
        <Choice label="Language" value={name} onChange={setName} options={SNIPPETS.map((one) => ({ value: one.name, label: one.label }))} />
        <CopyField title={snippet.file} text={snippet.text.trimEnd()} />
        <ul className="list-disc pl-5 text-muted">
          <li>{snippet.library}</li>
          <li>Verify the bytes as they arrived, before you parse them.</li>
          <li>
            Remember <code className="font-mono text-sm">webhook-id</code>: it is the same at each attempt, and a delivery may arrive twice.
          </li>
          <li>Answer with 2xx within 15 seconds.</li>
        </ul>
      </div>
    </Dialog>
  );
}
