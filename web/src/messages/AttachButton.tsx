import { Paperclip } from "lucide-react";
import { useRef } from "react";

import { IconButton } from "../ui/Button";

/** Lets the person choose files. */
export function AttachButton({ onChoose }: { onChoose: (files: File[]) => void }) {
  const chooser = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          onChoose([...(event.target.files ?? [])]);
          // Otherwise the person could not choose the same file again.
          event.target.value = "";
        }}
      />
      <IconButton label="Attach files" onClick={() => chooser.current?.click()}>
        <Paperclip size={16} />
      </IconButton>
    </>
  );
}
