import { load, save } from "../lib/storage";
import { type Store, store } from "../lib/store";

/** The sections of the sidebar that can be collapsed. */
export type SectionName = "Starred" | "Channels" | "Direct messages" | "Agents" | "Work" | "Operate";

function kept(key: string, atFirst: SectionName[]): Store<SectionName[]> {
  const names = load<SectionName[]>(key, atFirst);
  return store(Array.isArray(names) ? names : atFirst);
}

function toggle(names: Store<SectionName[]>, key: string, name: SectionName): void {
  names.set((now) => (now.includes(name) ? now.filter((one) => one !== name) : [...now, name]));
  save(key, names.get());
}

const COLLAPSED = "stoa.collapsed";
const WHOLE = "stoa.whole";

/** Which sections this browser shows collapsed. Few people look at Operate each day. */
export const collapsed = kept(COLLAPSED, ["Operate"]);
export const toggleSection = (name: SectionName) => toggle(collapsed, COLLAPSED, name);

/** Which sections show all their rows, however many there are. */
export const whole = kept(WHOLE, []);
export const toggleWhole = (name: SectionName) => toggle(whole, WHOLE, name);
