import { useStore } from "../lib/store";
import { type SectionName, collapsed } from "./collapsed";
import type { Sections } from "./sections";
import { sharesOf } from "./shares";

const TITLES: Record<keyof Sections, SectionName> = { starred: "Starred", channels: "Channels", people: "Direct messages", agents: "Agents" };
/** Inbox, Threads, and the headings of three sections. */
const OTHER_ROWS = 5;

/** How many rows each section of conversations gets, of all that the list has room for. */
export function useShares(sections: Sections, room: number): Record<keyof Sections, number> {
  const hidden = useStore(collapsed);
  const keys = Object.keys(TITLES) as Array<keyof Sections>;
  const lengths = keys.map((key) => (hidden.includes(TITLES[key]) ? 0 : sections[key].length));
  const starredHeading = sections.starred.length > 0 ? 1 : 0;
  const shares = sharesOf(lengths, room - OTHER_ROWS - starredHeading);
  return Object.fromEntries(keys.map((key, at) => [key, shares[at]!])) as Record<keyof Sections, number>;
}
