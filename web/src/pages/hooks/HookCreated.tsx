import type { CreatedHook } from "../../api/hooks";
import { briefOf } from "../../lib/cut";
import { spelled } from "../../lib/hidden";
import { Button } from "../../ui/Button";
import { CopyField } from "../../ui/CopyField";
import { Dialog } from "../../ui/Dialog";
import { Facts } from "../../ui/Facts";
import { SecretOnce } from "../../ui/SecretOnce";
import { githubEvents } from "./form";

/** The URL and the secret of a new hook, and what to do with them. */
export function HookCreated({ created, onClose }: { created: CreatedHook; onClose: () => void }) {
  const { hook } = created;
  return (
    <Dialog title={`Hook “${spelled(briefOf(hook.name, 60))}”`} onClose={onClose} isWide isKept>
      <div className="flex flex-col gap-4">
        {hook.kind === "github" ? <GithubSteps created={created} /> : null}
        {hook.kind === "standard" ? (
          <>
            <p>Enter the URL and the secret in the other service.</p>
            <CopyField title="URL" text={created.url} />
            <SecretOnce label="Secret" secret={created.secret} />
          </>
        ) : null}
        {hook.kind === "url" ? (
          <>
            <p>Enter this URL in the other service. Anyone who knows it can post, so treat it like a password.</p>
            <SecretOnce label="URL" secret={created.url} />
            <CopyField
              title="Try it"
              text={`curl -H 'Content-Type: application/json' -d '{"text": "Hello"}' '${created.url}'`}
              shown={`curl -H 'Content-Type: application/json' -d '{"text": "Hello"}' 'URL'`}
            />
          </>
        ) : null}
        <div className="flex justify-end">
          <Button size="form" look="filled" onClick={onClose}>
            I have saved it
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

/** The fields of GitHub's form, in its order and with its words. */
function GithubSteps({ created }: { created: CreatedHook }) {
  return (
    <>
      <p>
        On GitHub, open the repository or the organization, then <strong>Settings</strong>, <strong>Webhooks</strong>,{" "}
        <strong>Add webhook</strong>. Fill in these fields.
      </p>
      <CopyField title="Payload URL" text={created.url} />
      <Facts items={[["Content type", "application/json"]]} />
      <div className="flex flex-col gap-1">
        <p className="text-muted">Secret</p>
        <SecretOnce label="Secret" secret={created.secret} />
      </div>
      <Facts
        items={[
          ["SSL verification", created.url.startsWith("https:") ? "Enable SSL verification" : "Disable (the URL has no HTTPS)"],
          ["Which events", githubEvents(created.hook.events)],
          ["Active", "yes"],
        ]}
      />
    </>
  );
}
