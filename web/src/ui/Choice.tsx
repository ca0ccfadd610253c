import { type ReactNode, useId } from "react";

interface ChoiceProps<Value extends string> {
  label: string;
  hint?: ReactNode;
  value: Value;
  options: ReadonlyArray<{ value: Value; label: string; isDisabled?: boolean }>;
  onChange: (value: Value) => void;
}

/** One of a few, all of them in sight. */
export function Choice<Value extends string>({ label, hint, value, options, onChange }: ChoiceProps<Value>) {
  const id = useId();
  return (
    <fieldset aria-describedby={hint ? `${id}-hint` : undefined} className="flex min-w-0 flex-col gap-1">
      <legend className="mb-1 font-medium">{label}</legend>
      <div className="flex flex-wrap gap-2">
        {options.map((option) => (
          <label
            key={option.value}
            className="inline-flex h-9 cursor-pointer items-center gap-2 rounded-md border border-line px-3 hover:bg-panel has-checked:border-accent has-checked:bg-selected has-disabled:cursor-default has-disabled:opacity-50 has-disabled:hover:bg-transparent pointer-coarse:h-11"
          >
            <input
              type="radio"
              name={id}
              value={option.value}
              disabled={option.isDisabled}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
            />
            {option.label}
          </label>
        ))}
      </div>
      {hint ? (
        <p id={`${id}-hint`} className="text-sm text-muted">
          {hint}
        </p>
      ) : null}
    </fieldset>
  );
}
