import { Ban } from "lucide-react";
import { type ReactNode, useState } from "react";

import { VirtualList } from "../../ui/VirtualList";
import { classes } from "../../ui/classes";
import type { Standing } from "./query";

/** The most options that are shown before the person asks for more. */
const SHOWN = 6;

/** The options of a filter: the first few and the chosen ones, or all of them. */
export function FilterList({ title, rows, isWhole }: { title: string; rows: Array<{ name: string; isChosen: boolean; row: ReactNode }>; isWhole?: boolean }) {
  const [isAll, setAll] = useState(isWhole ?? false);
  const shown = rows.filter(({ isChosen }, at) => isAll || isChosen || at < SHOWN);
  const rest = rows.length - shown.length;
  return (
    <fieldset className="min-w-0">
      <legend className="pb-1 text-sm font-semibold text-muted">{title}</legend>
      <VirtualList rows={shown} keyOf={({ name }) => name} size={28} rowClass="flex min-h-7 items-center gap-2 pointer-coarse:min-h-11">
        {({ row }) => row}
      </VirtualList>
      {rest > 0 ? (
        <button type="button" onClick={() => setAll(true)} className="min-h-6 text-accent hover:underline pointer-coarse:min-h-11">
          {rest} more
        </button>
      ) : null}
    </fieldset>
  );
}

export function FilterOption({ name, icon, standing, onChange, children }: {
  name: string;
  icon?: ReactNode;
  standing: Standing;
  onChange: (standing: Standing) => void;
  children: ReactNode;
}) {
  const isOut = standing === "out";
  return (
    <>
      <label className="flex min-h-6 min-w-0 flex-1 cursor-pointer items-center gap-2 pointer-coarse:min-h-11">
        <input type="checkbox" className="shrink-0" checked={standing === "in"} onChange={() => onChange(standing === "in" ? "off" : "in")} />
        {icon ? (
          <span aria-hidden="true" className="flex w-5 shrink-0 justify-center text-muted">
            {icon}
          </span>
        ) : null}
        <span className={classes("truncate", isOut && "text-rejected line-through")}>{children}</span>
      </label>
      <button
        type="button"
        aria-pressed={isOut}
        aria-label={`Exclude ${name}`}
        title={isOut ? "Excluded" : "Exclude"}
        onClick={() => onChange(isOut ? "off" : "out")}
        className="inline-flex h-6 min-w-6 shrink-0 items-center justify-center rounded-sm text-sm text-muted hover:text-fg aria-pressed:text-rejected pointer-coarse:size-11"
      >
        <Ban size={14} aria-hidden="true" />
      </button>
    </>
  );
}
