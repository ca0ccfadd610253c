import { appearance } from "../lib/appearance";
import { useStore } from "../lib/store";
import { fromInput, toInput } from "../lib/time";
import { Field, INPUT } from "./Field";

/** A moment. It applies when the person leaves the field or presses Enter, because a half-typed moment is none. */
export function MomentField({ label, value, onChange }: { label: string; value: string | undefined; onChange: (at: string | undefined) => void }) {
  const zone = useStore(appearance, (chosen) => chosen.zone);
  const shown = value ? toInput(value) : "";
  const commit = (text: string) => {
    if (text !== shown) onChange(fromInput(text));
  };
  return (
    <Field label={label}>
      {(wiring) => (
        <input
          {...wiring}
          key={`${shown} ${zone}`}
          type="datetime-local"
          defaultValue={shown}
          onBlur={(event) => commit(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") commit(event.currentTarget.value);
          }}
          className={INPUT}
        />
      )}
    </Field>
  );
}
