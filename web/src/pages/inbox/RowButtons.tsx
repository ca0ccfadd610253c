import { Button } from "../../ui/Button";
import type { RowAction } from "./useRowActions";

/** The actions on a row as buttons. The open row shows their keys, too. */
export function RowButtons({ actions, title, isOpen }: { actions: Record<string, RowAction>; title: string; isOpen: boolean }) {
  return Object.entries(actions).map(([key, action]) => (
    <Button
      key={key}
      look={action.isMain && isOpen ? "filled" : "outlined"}
      aria-label={`${action.label}: ${title}`}
      onClick={(event) => {
        event.stopPropagation();
        action.run();
      }}
    >
      {action.icon}
      {action.label}
      {isOpen ? (
        <kbd aria-hidden="true" className="font-sans text-xs opacity-80 pointer-coarse:hidden">
          {key}
        </kbd>
      ) : null}
    </Button>
  ));
}
