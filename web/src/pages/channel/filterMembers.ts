import type { Member } from "../../api/types";

/** Members whose name, display name or owner contains what was typed. */
export function filterMembers(members: readonly Member[], typed: string): readonly Member[] {
  const sought = typed.trim().replace(/^@/, "").toLowerCase();
  if (!sought) return members;
  return members.filter(({ name, display_name, owner }) => [name, display_name, owner ?? ""].some((text) => text.toLowerCase().includes(sought)));
}
