import { type ReactNode, useId } from "react";

import { Field, INPUT } from "./Field";

interface SuggestFieldProps {
  label: string;
  hint?: ReactNode;
  error?: string;
  value: string;
  suggestions: readonly string[];
  placeholder?: string;
  onChange: (value: string) => void;
}

/** A text to type, or to choose from a list that is not complete. */
export function SuggestField({ label, hint, error, value, suggestions, placeholder, onChange }: SuggestFieldProps) {
  const list = useId();
  return (
    <Field label={label} hint={hint} error={error}>
      {(wiring) => (
        <>
          <input
            {...wiring}
            list={list}
            value={value}
            placeholder={placeholder}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => onChange(event.target.value)}
            className={INPUT}
          />
          <datalist id={list}>
            {suggestions.map((suggestion) => (
              <option key={suggestion} value={suggestion} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
