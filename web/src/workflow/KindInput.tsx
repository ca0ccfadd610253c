import type { InputHTMLAttributes } from "react";
import { useId } from "react";

import { KINDS, isKind } from "./kinds";

type KindInputProps = Omit<InputHTMLAttributes<HTMLInputElement>, "onChange"> & { value: string; onChange: (kind: string) => void };

/** A kind of work: one of those that are offered, or any other word. */
export function KindInput({ value, onChange, ...rest }: KindInputProps) {
  const id = useId();
  return (
    <>
      <input
        {...rest}
        list={id}
        value={value}
        maxLength={64}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        aria-invalid={!isKind(value)}
        onChange={(event) => onChange(event.target.value.trim().toLowerCase())}
      />
      <datalist id={id}>
        {KINDS.map((kind) => (
          <option key={kind} value={kind} />
        ))}
      </datalist>
    </>
  );
}
