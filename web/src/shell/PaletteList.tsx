import { useEffect, useRef } from "react";

import { MOST_OF_LINE, Shown } from "../ui/Shown";
import { classes } from "../ui/classes";
import type { Choice } from "./usePaletteChoices";

interface PaletteListProps {
  id: string;
  choices: readonly Choice[];
  /** The highlighted choice. */
  at: number;
  typed: string;
  onPoint: (index: number) => void;
  onChoose: (choice: Choice) => void;
}

/** The choices by group. The highlighted one stays in view. */
export function PaletteList({ id, choices, at, typed, onPoint, onChoose }: PaletteListProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [at]);
  const groups = [...new Set(choices.map((choice) => choice.group))];
  return (
    <div ref={list} id={`${id}-list`} role="listbox" aria-label="Places and commands" className="min-h-0 overflow-y-auto p-2">
      {groups.map((group) => (
        <div key={group} role="group" aria-labelledby={`${id}-${group}`}>
          <p id={`${id}-${group}`} className="px-2 pt-2 pb-1 text-sm text-muted">
            {group}
          </p>
          {choices.map((choice, index) =>
            choice.group === group ? (
              <div
                key={`${choice.group} ${choice.label}`}
                id={`${id}-${index}`}
                role="option"
                aria-selected={index === at}
                onMouseMove={() => onPoint(index)}
                onClick={() => onChoose(choice)}
                className={classes(
                  "flex h-9 cursor-pointer items-center gap-3 rounded-sm px-2 pointer-coarse:h-11",
                  index === at && "bg-selected",
                )}
              >
                <span aria-hidden="true" className="flex w-5 shrink-0 justify-center text-muted">
                  {choice.icon}
                </span>
                <span className="min-w-0 flex-1 truncate">
                  <Matched text={choice.label} typed={choice.typed === undefined ? typed : ""} />
                </span>
                <span className="max-w-[50%] truncate text-sm text-muted">
                  <Shown text={choice.hint} most={MOST_OF_LINE} />
                </span>
              </div>
            ) : null,
          )}
        </div>
      ))}
    </div>
  );
}

/** A label with the typed text in bold. */
function Matched({ text, typed }: { text: string; typed: string }) {
  const at = typed ? text.toLowerCase().indexOf(typed.toLowerCase()) : -1;
  if (at < 0) return text;
  return (
    <>
      {text.slice(0, at)}
      <strong>{text.slice(at, at + typed.length)}</strong>
      {text.slice(at + typed.length)}
    </>
  );
}
