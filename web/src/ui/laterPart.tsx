import { type ComponentType, type FunctionComponent, useEffect, useState } from "react";

import { afterPaint } from "../lib/afterPaint";

const RETRY_MS = 3000;

/**
 * A part of every page that nobody misses in its first moment. It is loaded right after the first paint, and again and again if the hub
 * cannot be reached just then: the page is there without it.
 */
export function laterPart<Props extends object>(load: () => Promise<ComponentType<Props>>): FunctionComponent<Props> {
  return function Later(props) {
    const [Part, setPart] = useState<ComponentType<Props> | null>(null);
    useEffect(() => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      let isOver = false;
      const start = () =>
        void load().then(
          (part) => isOver || setPart(() => part),
          () => {
            if (!isOver) timer = setTimeout(start, RETRY_MS);
          },
        );
      const prevent = afterPaint(start);
      return () => {
        isOver = true;
        clearTimeout(timer);
        prevent();
      };
    }, []);
    return Part ? <Part {...props} /> : null;
  };
}
