import { Button } from "../../ui/Button";
import type { RowAction } from "./useRowActions";

/** The actions on a row as buttons. The open row shows their keys, too. */
export function RowButtons({ actions, title, isOpen }: { actions: Record<string, RowAction>; title: string; isOpen: boolean }) {
  return Object.entries(actions).map(([key, action]) => (
    <Button
      key={key}
      look={action.isMain && isOpen ? "filled" : "outlined"}
      aria-label={`${action.label}: ${title}`}
      title={action.isMinor ? action.label : undefined}
      className={action.isMinor ? "max-sm:min-w-11 max-sm:px-0" : "max-sm:flex-1"}
      onClick={(event) => {
        event.stopPropagation();
        action.run();
      }}
    >
      {action.icon}
      {action.isMinor ? <span className="max-sm:hidden">{action.label}</span> : action.label}
      {isOpen ? (
        <kbd aria-hidden="true" className="font-sans text-xs opacity-80 touch:hidden">
          {key}
        </kbd>
      ) : null}
    </Button>
  ));
}
