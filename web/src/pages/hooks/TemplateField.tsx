import { useId, useRef } from "react";

import type { HookKind } from "../../api/hooks";
import { Button } from "../../ui/Button";
import { TextAreaField } from "../../ui/TextField";
import { TemplatePreview } from "./TemplatePreview";
import { SAMPLES } from "./template";

interface TemplateFieldProps {
  kind: HookKind;
  value: string;
  onChange: (value: string) => void;
  error?: string;
}

/** The template of the messages, its placeholders, and the message that it makes of an example. */
export function TemplateField({ kind, value, onChange, error }: TemplateFieldProps) {
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const insert = (name: string) => {
    const area = box.current?.querySelector("textarea");
    const [from, to] = area ? [area.selectionStart, area.selectionEnd] : [value.length, value.length];
    onChange(`${value.slice(0, from)}{{${name}}}${value.slice(to)}`);
    area?.focus();
  };
  return (
    <div ref={box} className="flex flex-col gap-2">
      <TextAreaField
        label="Template"
        hint="Text with placeholders for values from the request. Empty = default message."
        error={error}
        rows={3}
        spellCheck={false}
        value={value}
        onChange={onChange}
      />
      <div role="group" aria-labelledby={id} className="flex flex-wrap items-center gap-1.5">
        <span id={id} className="text-sm text-muted">
          Insert
        </span>
        {SAMPLES[kind].placeholders.map((name) => (
          <Button key={name} size="row" className="font-mono" onClick={() => insert(name)}>
            {name}
          </Button>
        ))}
      </div>
      <TemplatePreview kind={kind} template={value} />
    </div>
  );
}
