import { Fragment, type ReactNode } from "react";

/** What is known of something, name by name. */
export function Facts({ items }: { items: ReadonlyArray<[name: string, value: ReactNode]> }) {
  return (
    <dl className="grid grid-cols-[minmax(6rem,auto)_1fr] gap-x-4 gap-y-1">
      {items.map(([name, value]) => (
        <Fragment key={name}>
          <dt className="text-muted">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
