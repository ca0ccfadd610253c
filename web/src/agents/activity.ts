import type { Trace } from "../api/agents";

const HOUR_MS = 3_600_000;
export const BARS = 24;

/** The time that bars stand for. */
export interface Span {
  from: number;
  to: number;
  /** Whether it is the whole day, or only as far back as the traces that there are. */
  isWhole: boolean;
}

export interface Bar {
  from: number;
  to: number;
  calls: number;
  failed: number;
}

/** The last day by hours. Where more was done than is loaded, only the time that is known whole. */
export function spanOf(page: { items: readonly Trace[]; total: number }, now: number): Span {
  const oldest = page.items.at(-1);
  if (page.total > page.items.length && oldest) {
    return { from: Date.parse(oldest.created_at), to: now, isWhole: false };
  }
  const to = Math.ceil(now / HOUR_MS) * HOUR_MS;
  return { from: to - BARS * HOUR_MS, to, isWhole: true };
}

/** How much was done in each part of a time. */
export function barsOf(traces: readonly Trace[], span: Span): Bar[] {
  const step = Math.max(1, (span.to - span.from) / BARS);
  const bars = Array.from({ length: BARS }, (_, at) => ({
    from: span.from + at * step,
    to: span.from + (at + 1) * step,
    calls: 0,
    failed: 0,
  }));
  for (const trace of traces) {
    const place = Math.floor((Date.parse(trace.created_at) - span.from) / step);
    // The hub's clock may be a little ahead of this one.
    const bar = place >= BARS ? bars.at(-1) : bars[place];
    if (!bar) continue;
    bar.calls += 1;
    if (trace.error) bar.failed += 1;
  }
  return bars;
}

/** The traces of each agent. */
export function byAgent(traces: readonly Trace[]): Map<string, Trace[]> {
  const groups = new Map<string, Trace[]>();
  for (const trace of traces) {
    if (!trace.agent) continue;
    const group = groups.get(trace.agent);
    if (group) group.push(trace);
    else groups.set(trace.agent, [trace]);
  }
  return groups;
}
