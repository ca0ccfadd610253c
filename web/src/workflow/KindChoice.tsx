import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { isKind, offeredKinds } from "./kinds";
import { usedKinds } from "./usedKinds";

/** No kind has a space in it. */
const ANOTHER = "another kind";

interface KindChoiceProps {
  channel: string;
  /** The kind, or what somebody has written so far of another one. */
  value: string;
  onChange: (kind: string) => void;
  className: string;
  id?: string;
  autoFocus?: boolean;
  "aria-describedby"?: string;
}

/** A kind of work: one of those in use and the usual ones, or any other word. */
export function KindChoice({ channel, value, onChange, className, id, autoFocus, "aria-describedby": describedBy }: KindChoiceProps) {
  const client = useQueryClient();
  const [used] = useState(() => usedKinds(client, channel));
  const [isWritten, setWritten] = useState(false);
  const wiring = { id, className, autoFocus, "aria-describedby": describedBy };
  const choose = (kind: string) => {
    setWritten(kind === ANOTHER);
    onChange(kind === ANOTHER ? "" : kind);
  };
  return (
    <>
      <select {...wiring} aria-label={id ? undefined : "Kind of work"} value={isWritten ? ANOTHER : value} onChange={(event) => choose(event.target.value)}>
        {offeredKinds(used, isWritten ? "" : value).map((kind) => (
          <option key={kind}>{kind}</option>
        ))}
        <option value={ANOTHER}>another kind…</option>
      </select>
      {isWritten ? (
        <input
          className={className}
          aria-label="Name of the kind"
          aria-describedby={describedBy}
          aria-invalid={value !== "" && !isKind(value)}
          autoFocus
          value={value}
          maxLength={64}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          onChange={(event) => onChange(event.target.value.trim().toLowerCase())}
        />
      ) : null}
    </>
  );
}
