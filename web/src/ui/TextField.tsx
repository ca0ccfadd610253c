import { type FormEvent, type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, type TextareaHTMLAttributes, useState } from "react";

import { Problem, sentenceOf } from "../api/problem";
import { Field, INPUT, Refusal } from "./Field";
import { classes } from "./classes";
import { faultWords, isFirstFault, lengthFault } from "./nativeFault";
import { useFocusFault } from "./useFocusFault";

interface About {
  label: string;
  /** What to know before typing. */
  hint?: ReactNode;
  /** What is wrong with what was typed. */
  error?: string;
}

type Control<Attributes> = About & Omit<Attributes, "onChange"> & { onChange: (value: string) => void };

/** What the browser or the length says is wrong with a text, until the person changes it. */
function useOwnFault(label: string, value: unknown, most: number | undefined) {
  const [fault, setFault] = useState<string>();
  const tooLong = lengthFault(value, most);
  return {
    fault: tooLong || fault,
    forget: () => setFault(undefined),
    wiring: {
      ref: (control: HTMLInputElement | HTMLTextAreaElement | null) => control?.setCustomValidity(tooLong),
      onInvalid: (event: FormEvent<HTMLInputElement | HTMLTextAreaElement>) => {
        event.preventDefault();
        setFault(faultWords(event.currentTarget, label));
        if (isFirstFault(event.currentTarget)) event.currentTarget.focus();
      },
    },
  };
}

export function TextField({ label, hint, error, onChange, maxLength, ...rest }: Control<InputHTMLAttributes<HTMLInputElement>>) {
  const own = useOwnFault(label, rest.value, maxLength);
  const change = (value: string) => {
    own.forget();
    onChange(value);
  };
  return (
    <Field label={label} hint={hint} error={own.fault ?? error}>
      {(wiring) => <input {...rest} {...own.wiring} {...wiring} onChange={(event) => change(event.target.value)} className={INPUT} />}
    </Field>
  );
}

export function TextAreaField({ label, hint, error, onChange, maxLength, ...rest }: Control<TextareaHTMLAttributes<HTMLTextAreaElement>>) {
  const own = useOwnFault(label, rest.value, maxLength);
  const change = (value: string) => {
    own.forget();
    onChange(value);
  };
  return (
    <Field label={label} hint={hint} error={own.fault ?? error}>
      {(wiring) => (
        <textarea
          {...rest}
          {...own.wiring}
          {...wiring}
          onChange={(event) => change(event.target.value)}
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

/** The fields that a refusal is about. A taken name is a conflict, which names no field. */
function fieldsOf(error: unknown): Problem["fields"] {
  if (!(error instanceof Problem)) return [];
  return error.code === "name_taken" && error.fields.length === 0 ? [{ field: "name", message: sentenceOf(error) }] : error.fields;
}

/** What the hub says about one field. */
export function fieldError(error: unknown, field: string): string | undefined {
  const said = fieldsOf(error).filter((one) => one.field === field).map((one) => one.message);
  return said.length ? said.map((message) => `${message.charAt(0).toUpperCase()}${message.slice(1).replace(/\.$/, "")}.`).join(" ") : undefined;
}

/** A refusal, unless all of it is said at its fields. The focus goes to the first field that is wrong. */
export function FormError({ error, shown = [] }: { error: unknown; shown?: readonly string[] }) {
  const anchor = useFocusFault<HTMLSpanElement>(error);
  const fields = fieldsOf(error);
  const isElsewhere = fields.length > 0 && fields.every((one) => shown.includes(one.field));
  const isAway = error instanceof Problem && error.status === 0;
  return (
    <>
      <span ref={anchor} hidden />
      {error && !isElsewhere ? (
        <Refusal>
          {sentenceOf(error)}
          {isAway ? " What you typed is kept: retry when the hub is back." : null}
        </Refusal>
      ) : null}
    </>
  );
}
