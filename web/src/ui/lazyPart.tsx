import { type ComponentType, type FunctionComponent, type ReactNode, Suspense, lazy } from "react";

import { whenIdle } from "../lib/afterPaint";

/**
 * A part of a page that is not shown at first. It is loaded as soon as the page has nothing else to do, so that it is there when
 * somebody wants it, also if the connection breaks in between.
 */
export function lazyPart<Props extends object>(load: () => Promise<ComponentType<Props>>, fallback: ReactNode = null): FunctionComponent<Props> {
  const Part = lazy(async () => ({ default: (await load()) as ComponentType<object> }));
  whenIdle(() => void load().catch(() => undefined));
  return (props) => (
    <Suspense fallback={fallback}>
      <Part {...props} />
    </Suspense>
  );
}
