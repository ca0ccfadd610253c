import type { ReactNode } from "react";

import { useExplained } from "./Explained";

type Item = readonly [name: string, value: ReactNode, about?: string];

/** What is known of something, name by name, and what a name means where not everybody knows. */
export function Facts({ items }: { items: readonly Item[] }) {
  return (
    <dl className="grid grid-cols-[minmax(6rem,auto)_1fr] gap-x-4 gap-y-1">
      {items.map(([name, value, about]) =>
        about ? <ExplainedFact key={name} name={name} value={value} about={about} /> : <Fact key={name} name={name} value={value} />,
      )}
    </dl>
  );
}

function Fact({ name, value }: { name: ReactNode; value: ReactNode }) {
  return (
    <>
      <dt className="self-start text-muted">{name}</dt>
      <dd className="min-w-0 break-words [&_time]:whitespace-normal">{value}</dd>
    </>
  );
}

function ExplainedFact({ name, value, about }: { name: string; value: ReactNode; about: string }) {
  const { button, note } = useExplained(name, about);
  return (
    <Fact
      name={
        <span className="whitespace-nowrap">
          {name} {button}
        </span>
      }
      value={
        <>
          <span className="inline-flex min-h-6 max-w-full items-center pointer-coarse:min-h-11">
            <span className="min-w-0 break-words">{value}</span>
          </span>
          {note}
        </>
      }
    />
  );
}
