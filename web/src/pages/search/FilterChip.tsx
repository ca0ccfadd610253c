import { X } from "lucide-react";
import { Fragment } from "react";

import { classes } from "../../ui/classes";
import type { Filter } from "./address";
import { isList, itemsOf } from "./query";

/** A filter of the search, with buttons to change and to remove it. */
export function FilterChip({ filter, value, isWrong, onEdit, onRemove }: {
  filter: Filter;
  value: string;
  isWrong: boolean;
  onEdit: () => void;
  onRemove: () => void;
}) {
  return (
    <span
      className={classes(
        "inline-flex items-center rounded-md border bg-panel max-md:shrink-0 max-md:whitespace-nowrap md:max-w-full md:min-w-0",
        isWrong ? "border-rejected" : "border-line",
      )}
    >
      <button type="button" title="Edit" onClick={onEdit} className="min-h-6 min-w-0 py-0.5 pl-2 text-left break-words pointer-coarse:min-h-11">
        <span className="text-muted">{filter}:</span>
        {isList(filter)
          ? itemsOf(value).map((item, at) => (
              <Fragment key={item.name}>
                {at ? "," : ""}
                {item.isOut ? <span className="text-rejected">-{item.name}</span> : item.name}
              </Fragment>
            ))
          : value}
      </button>
      <button
        type="button"
        aria-label={`Remove ${filter}`}
        title={`Remove ${filter}`}
        onClick={onRemove}
        className="inline-flex size-6 shrink-0 items-center justify-center text-muted hover:text-fg pointer-coarse:size-11"
      >
        <X size={14} aria-hidden="true" />
      </button>
    </span>
  );
}
