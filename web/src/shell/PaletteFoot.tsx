import { Key } from "./Key";
import { shortcutHelp } from "./help";
import { palette } from "./palette";

/** The keys of the palette. */
export function PaletteFoot() {
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-x-4 gap-y-1 rounded-b-lg border-t border-line bg-panel px-4 py-2 text-sm text-muted max-md:hidden touch:hidden">
      <span>
        <Key>↑</Key> <Key>↓</Key> choose
      </span>
      <span>
        <Key>↵</Key> open
      </span>
      <span className="flex-1" />
      <button
        type="button"
        className="min-h-6 hover:text-fg"
        onClick={() => {
          palette.set(false);
          shortcutHelp.set(true);
        }}
      >
        All shortcuts
      </button>
    </div>
  );
}
