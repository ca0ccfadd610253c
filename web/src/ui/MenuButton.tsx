import { Ellipsis } from "lucide-react";
import { Suspense, lazy, useState } from "react";

const MenuList = lazy(() => import("./MenuList"));

export interface MenuAction {
  label: string;
  onSelect: () => void;
  isDanger?: boolean;
}

const LOOK = "inline-flex size-7 items-center justify-center rounded-md text-muted hover:bg-panel hover:text-fg pointer-coarse:size-11";

/** A button that opens a menu. The code of the menu is loaded at the first click. */
export function MenuButton({ label, actions }: { label: string; actions: readonly MenuAction[] }) {
  const [isWanted, setWanted] = useState(false);
  const button = (
    <button type="button" aria-label={label} aria-haspopup="menu" className={LOOK} onClick={() => setWanted(true)}>
      <Ellipsis size={16} aria-hidden="true" />
    </button>
  );
  return isWanted ? (
    <Suspense fallback={button}>
      <MenuList label={label} look={LOOK} actions={actions} />
    </Suspense>
  ) : (
    button
  );
}
