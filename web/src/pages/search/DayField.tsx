import { INPUT } from "../../ui/Field";
import { classes } from "../../ui/classes";

/** A day. It applies when the person leaves the field or presses Enter, because a half-typed day is none. */
export function DayField({ label, value, onChange }: { label: string; value: string | undefined; onChange: (day: string | undefined) => void }) {
  const shown = /^\d{4}-\d{2}-\d{2}/.exec(value ?? "")?.[0] ?? "";
  const commit = (day: string) => {
    if (day !== shown) onChange(day || undefined);
  };
  return (
    <label className="flex items-center gap-2">
      <span className="w-14 shrink-0">{label}</span>
      <input
        key={shown}
        type="date"
        defaultValue={shown}
        onBlur={(event) => commit(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") commit(event.currentTarget.value);
        }}
        className={classes(INPUT, "min-w-0 flex-1")}
      />
    </label>
  );
}
