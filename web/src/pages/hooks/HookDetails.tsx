import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { useState } from "react";

import { type Hook, changeHook, deleteHook } from "../../api/hooks";
import { sentenceOf } from "../../api/problem";
import { briefOf } from "../../lib/cut";
import { spelled } from "../../lib/hidden";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Confirm";
import { CopyField } from "../../ui/CopyField";
import { Section } from "../../ui/Section";
import { Switch } from "../../ui/Switch";
import { toast } from "../../ui/Toasts";
import { lazyPart } from "../../ui/lazyPart";
import { HookFacts } from "./HookFacts";
import { HookRequests } from "./HookRequests";
import { KINDS } from "./words";

const EditHookDialog = lazyPart(() => import("./EditHookDialog").then((part) => part.EditHookDialog));
const SecretDialog = lazyPart(() => import("./SecretDialog").then((part) => part.SecretDialog));

type Asked = "edit" | "secret" | "delete" | null;

/** One hook: its settings, and the requests that reached it. */
export function HookDetails({ hook }: { hook: Hook }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<Asked>(null);
  const [isSwitching, setSwitching] = useState(false);
  const name = spelled(briefOf(hook.name, 60));
  const close = () => setAsked(null);
  const enable = async (enabled: boolean) => {
    setSwitching(true);
    try {
      await changeHook(client, hook.id, { enabled });
    } catch (error) {
      toast(sentenceOf(error), { isError: true });
    }
    setSwitching(false);
  };
  return (
    <>
      <Link
        to="/settings/hooks"
        className="mx-6 mt-4 inline-flex min-h-6 items-center gap-1 text-accent hover:underline max-md:mx-4 pointer-coarse:min-h-11"
      >
        <ArrowLeft size={14} aria-hidden="true" />
        All hooks
      </Link>
      <Section
        title={name}
        description={KINDS[hook.kind].about}
        action={
          <div className="flex flex-wrap gap-2">
            <Button onClick={() => setAsked("edit")}>Edit</Button>
            {hook.kind === "url" ? null : <Button onClick={() => setAsked("secret")}>Replace secret</Button>}
            <Button look="danger" onClick={() => setAsked("delete")}>
              Delete
            </Button>
          </div>
        }
      >
        {hook.target_deleted ? (
          <p role="status" className="rounded-md border border-line bg-panel px-3 py-2">
            The target of this hook was deleted, so its requests are rejected. Edit the hook to choose another target.
          </p>
        ) : null}
        <Switch
          label="Enabled"
          hint="Requests to a disabled hook are rejected."
          isOn={hook.enabled}
          disabled={isSwitching}
          onChange={(isOn) => void enable(isOn)}
        />
        <HookFacts hook={hook} />
        {hook.url ? (
          <CopyField title="URL" text={hook.url} />
        ) : (
          <p className="max-w-[80ch] text-muted">
            The URL contains the secret, so it was shown only once. Lost or leaked? Delete this hook and create another.
          </p>
        )}
      </Section>
      <HookRequests hook={hook} />
      {asked === "edit" ? <EditHookDialog hook={hook} onClose={close} /> : null}
      {asked === "secret" ? <SecretDialog hook={hook} onClose={close} /> : null}
      {asked === "delete" ? (
        <Confirm
          title={`Delete “${name}”?`}
          action="Delete hook"
          onConfirm={async () => {
            await deleteHook(client, hook.id, () => navigate({ to: "/settings/hooks", search: {} }));
            toast(`Hook “${name}” deleted`);
          }}
          onClose={close}
        >
          <p>Requests are rejected immediately. The hook's messages remain. This cannot be undone.</p>
        </Confirm>
      ) : null}
    </>
  );
}
