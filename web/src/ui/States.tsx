import type { ReactNode } from "react";

import { Problem, sentenceOf } from "../api/problem";
import { Button } from "./Button";

/** Nothing is there, and what to do about it. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="mx-auto flex max-w-lg flex-col items-center gap-2 px-6 py-12 text-center text-balance">
      <p className="text-lg font-semibold">{title}</p>
      {children ? <div className="text-muted">{children}</div> : null}
    </div>
  );
}

/** Something could not be loaded. */
export function Failed({ error, retry }: { error: unknown; retry?: () => void }) {
  return (
    <div role="alert" className="mx-auto flex max-w-lg flex-col items-center gap-3 px-6 py-12 text-center">
      <p>
        {sentenceOf(error)}
        {error instanceof Problem && error.status === 0 ? " Retrying when the connection is back." : null}
      </p>
      {retry ? <Button onClick={retry}>Retry</Button> : null}
    </div>
  );
}

/** The outline of what is on its way. */
export function Skeleton({ rows = 6 }: { rows?: number }) {
  return (
    <div aria-busy="true" aria-label="Loading" role="status" className="flex flex-col gap-4 p-6">
      {Array.from({ length: rows }, (_, at) => (
        <div key={at} className="flex gap-3">
          <div className="size-8 rounded-md bg-panel" />
          <div className="flex flex-1 flex-col gap-2">
            <div className="h-3 w-40 rounded-sm bg-panel" />
            <div className="h-3 w-full max-w-[60ch] rounded-sm bg-panel" />
          </div>
        </div>
      ))}
    </div>
  );
}
