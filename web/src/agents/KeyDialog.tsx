import type { ReactNode } from "react";

import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { SecretOnce } from "../ui/SecretOnce";

/** A key or another secret that was just made. It is closed only on purpose. */
export function KeyDialog({ title, label = "Key", secret, onClose, children, action }: {
  title: string;
  /** What it is. */
  label?: string;
  secret: string;
  onClose: () => void;
  children: ReactNode;
  /** Where to go on with the key. */
  action?: ReactNode;
}) {
  return (
    <Dialog title={title} onClose={onClose} isWide isKept>
      <div className="flex flex-col gap-4">
        <p>{children}</p>
        <SecretOnce label={label} secret={secret} />
        <div className="flex flex-wrap justify-end gap-2">
          {action}
          <Button size="form" look={action ? "outlined" : "filled"} onClick={onClose}>
            I have saved it
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
