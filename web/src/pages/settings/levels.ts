import type { NotificationLevel, NotificationSettings } from "../../api/account";

/**
 * The levels with one of them changed, or taken away where `level` is empty. Those of channels that are gone are left out: the hub
 * takes the whole list and refuses names that the person does not see.
 */
export function withLevel(
  levels: NotificationSettings["channels"],
  channel: string,
  level: string,
  seen: ReadonlyArray<{ name: string }>,
): NotificationSettings["channels"] {
  const others = levels.filter((one) => one.channel !== channel && seen.some(({ name }) => name === one.channel));
  return level === "" ? others : [...others, { channel, level: level as NotificationLevel }];
}
