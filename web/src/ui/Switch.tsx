import { type ReactNode, useId } from "react";

interface SwitchProps {
  label: string;
  hint?: ReactNode;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
  disabled?: boolean;
}

/** Something that is on or off, and what that does. */
export function Switch({ label, hint, isOn, onChange, disabled }: SwitchProps) {
  const id = useId();
  return (
    <div className="flex items-start gap-3">
      <button
        type="button"
        role="switch"
        id={id}
        aria-checked={isOn}
        aria-labelledby={`${id}-label`}
        aria-describedby={hint ? `${id}-hint` : undefined}
        disabled={disabled}
        onClick={() => onChange(!isOn)}
        className="group flex h-6 shrink-0 items-center disabled:opacity-60 pointer-coarse:h-11"
      >
        <span className="flex h-5 w-9 items-center rounded-full border border-control bg-panel px-0.5 group-aria-checked:border-accent group-aria-checked:bg-accent">
          <span className="size-3.5 rounded-full bg-control transition-transform duration-100 group-aria-checked:translate-x-4 group-aria-checked:bg-on-accent" />
        </span>
      </button>
      <div className="min-w-0">
        <label id={`${id}-label`} htmlFor={id} className="block py-0.5 font-medium pointer-coarse:py-3">
          {label}
        </label>
        {hint ? (
          <p id={`${id}-hint`} className="text-sm text-muted">
            {hint}
          </p>
        ) : null}
      </div>
    </div>
  );
}
