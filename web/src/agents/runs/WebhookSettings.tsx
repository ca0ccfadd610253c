import type { Agent } from "../../api/types";
import { AddressField } from "./AddressField";
import { TimeField } from "./ProgramSettings";
import { SigningSecret } from "./SigningSecret";
import { TemplateField } from "./TemplateField";
import { WhatHubSends } from "./WhatHubSends";
import { addressFault } from "./addressFault";
import { DEFAULT_TIMEOUT } from "./form";
import type { RunEdits } from "./useRunForm";

/** How an agent that runs elsewhere is called. */
export function WebhookSettings({ agent, edits }: { agent: Agent; edits: RunEdits }) {
  const { form, error, set } = edits;
  return (
    <section aria-label="Settings of the webhook" className="flex min-w-0 flex-col gap-4">
      <AddressField value={form.url} error={addressFault(error)} onChange={(value) => set("url", value)} />
      <SigningSecret agent={agent} />
      <WhatHubSends />
      <div className="grid gap-4 sm:grid-cols-2">
        <TimeField edits={edits} hint={`A receiver that answers later must send its result within this time. Default: ${DEFAULT_TIMEOUT}.`} />
      </div>
      <TemplateField edits={edits} />
    </section>
  );
}
