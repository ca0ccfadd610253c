import { load, save } from "../lib/storage";
import { store } from "../lib/store";

/** The sections of the sidebar that can be collapsed. */
export type SectionName = "Starred" | "Channels" | "Direct messages" | "Agents" | "Work" | "Operate";

const KEY = "stoa.collapsed";
/** Few people look at it each day. */
const AT_FIRST: SectionName[] = ["Operate"];

function kept(): SectionName[] {
  const names = load<SectionName[]>(KEY, AT_FIRST);
  return Array.isArray(names) ? names : AT_FIRST;
}

/** Which sections this browser shows collapsed. */
export const collapsed = store<SectionName[]>(kept());

export function toggleSection(name: SectionName): void {
  collapsed.set((now) => (now.includes(name) ? now.filter((one) => one !== name) : [...now, name]));
  save(KEY, collapsed.get());
}
