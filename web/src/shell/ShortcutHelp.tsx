import { appearance } from "../lib/appearance";
import { isMac } from "../lib/platform";
import { useStore } from "../lib/store";
import { Dialog } from "../ui/Dialog";
import { PLACES } from "./places";
import { GOES } from "./shortcuts";

interface Shortcut {
  keys: string[];
  does: string;
}

const placeOf = (path: string) => PLACES.find((place) => place.to === path)?.label ?? path;

function groups(): Array<{ title: string; shortcuts: Shortcut[] }> {
  return [
    {
      title: "Everywhere",
      shortcuts: [
        { keys: [isMac ? "⌘" : "Ctrl", "K"], does: "Search or jump to" },
        { keys: ["/"], does: "Search messages" },
        { keys: ["?"], does: "Show this list" },
        { keys: ["Esc"], does: "Close" },
        { keys: ["Alt", "↑↓"], does: "Previous or next conversation" },
        { keys: ["Alt", "⇧", "↑↓"], does: "Previous or next unread conversation" },
      ],
    },
    {
      title: "Go to",
      shortcuts: Object.entries(GOES).map(([key, path]) => ({ keys: ["g", key], does: placeOf(path) })),
    },
    {
      title: "Writing",
      shortcuts: [
        { keys: ["Enter"], does: "Send" },
        { keys: ["Shift", "Enter"], does: "New line" },
        { keys: ["@"], does: "Mention someone" },
        { keys: ["#"], does: "Link a channel" },
        { keys: ["Tab"], does: "Accept suggestion" },
      ],
    },
    {
      title: "Search",
      shortcuts: [
        { keys: ["↓"], does: "Jump to results" },
        { keys: ["j"], does: "Next result" },
        { keys: ["k"], does: "Previous result" },
        { keys: ["Enter"], does: "Open in context" },
      ],
    },
    {
      title: "Board and inbox",
      shortcuts: [
        { keys: ["←", "↑", "↓", "→"], does: "Move between cards" },
        { keys: ["Enter"], does: "Open card menu" },
        { keys: ["a"], does: "Approve" },
        { keys: ["x"], does: "Reject" },
        { keys: ["c"], does: "Claim" },
        { keys: ["d"], does: "Mark done" },
        { keys: ["s"], does: "Show source" },
        { keys: ["e"], does: "Mark read" },
      ],
    },
    {
      title: "Messages",
      shortcuts: [
        { keys: ["j"], does: "Next message" },
        { keys: ["k"], does: "Previous message" },
        { keys: ["r"], does: "Reply in thread" },
        { keys: ["a"], does: "Toggle approve" },
        { keys: ["x"], does: "Toggle reject" },
        { keys: ["c"], does: "Toggle claim" },
        { keys: ["d"], does: "Toggle done" },
        { keys: ["s"], does: "Show source" },
      ],
    },
    {
      title: "Traces and deliveries",
      shortcuts: [
        { keys: ["j"], does: "Next row" },
        { keys: ["k"], does: "Previous row" },
      ],
    },
  ];
}

/** All keys that do something. */
export function ShortcutHelp({ onClose }: { onClose: () => void }) {
  const areOn = useStore(appearance, (chosen) => chosen.keys !== "off");
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose} isWide isText>
      {areOn ? null : (
        <p className="pb-4 text-amber">Single-key shortcuts are off. Turn them on in Settings → Appearance.</p>
      )}
      <div className="grid gap-6 sm:grid-cols-2">
        {groups().map((group) => (
          <section key={group.title} aria-label={group.title}>
            <h3 className="pb-1 font-semibold">{group.title}</h3>
            <dl className="flex flex-col">
              {group.shortcuts.map((shortcut) => (
                <div key={shortcut.keys.join(" ")} className="flex min-h-8 items-center gap-2 border-t py-1 border-line">
                  <dt className="flex w-28 shrink-0 gap-1">
                    {shortcut.keys.map((key) => (
                      <kbd key={key} className="rounded-sm border border-control bg-panel px-1.5 font-mono text-xs leading-5">
                        {key}
                      </kbd>
                    ))}
                  </dt>
                  <dd>{shortcut.does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
