import { Fragment, type ReactNode } from "react";

import { Explained } from "./Explained";

/** What is known of something, name by name, and what a name means where not everybody knows. */
export function Facts({ items }: { items: ReadonlyArray<[name: string, value: ReactNode, about?: string]> }) {
  return (
    <dl className="grid grid-cols-[minmax(6rem,auto)_1fr] gap-x-4 gap-y-1">
      {items.map(([name, value, about]) => (
        <Fragment key={name}>
          <dt className="text-muted">{about ? <Explained word={name} about={about} /> : name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
