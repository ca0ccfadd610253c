import type { InputHTMLAttributes, ReactNode, SelectHTMLAttributes, TextareaHTMLAttributes } from "react";

import { Problem, sentenceOf } from "../api/problem";
import { Field, INPUT, Refusal } from "./Field";
import { classes } from "./classes";

interface About {
  label: string;
  /** What to know before typing. */
  hint?: ReactNode;
  /** What is wrong with what was typed. */
  error?: string;
}

type Control<Attributes> = About & Omit<Attributes, "onChange"> & { onChange: (value: string) => void };

export function TextField({ label, hint, error, onChange, ...rest }: Control<InputHTMLAttributes<HTMLInputElement>>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(wiring) => <input {...rest} {...wiring} onChange={(event) => onChange(event.target.value)} className={INPUT} />}
    </Field>
  );
}

export function TextAreaField({ label, hint, error, onChange, ...rest }: Control<TextareaHTMLAttributes<HTMLTextAreaElement>>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(wiring) => (
        <textarea
          {...rest}
          {...wiring}
          onChange={(event) => onChange(event.target.value)}
          className={classes(INPUT, "h-auto! py-2")}
        />
      )}
    </Field>
  );
}

export function SelectField({ label, hint, error, onChange, ...rest }: Control<SelectHTMLAttributes<HTMLSelectElement>>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(wiring) => <select {...rest} {...wiring} onChange={(event) => onChange(event.target.value)} className={INPUT} />}
    </Field>
  );
}

/** What the hub says about one field. */
export function fieldError(error: unknown, field: string): string | undefined {
  if (!(error instanceof Problem)) return undefined;
  const said = error.fields.filter((one) => one.field === field).map((one) => one.message);
  return said.length ? said.map((message) => `${message.charAt(0).toUpperCase()}${message.slice(1)}.`).join(" ") : undefined;
}

/** A refusal, unless all of it is said at its fields. */
export function FormError({ error, shown = [] }: { error: unknown; shown?: readonly string[] }) {
  if (!error) return null;
  const isElsewhere =
    error instanceof Problem && error.fields.length > 0 && error.fields.every((one) => shown.includes(one.field));
  return isElsewhere ? null : <Refusal>{sentenceOf(error)}</Refusal>;
}
