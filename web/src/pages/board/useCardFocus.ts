import { type Dispatch, type SetStateAction, useEffect, useState } from "react";

import type { WorkflowState } from "../../api/types";
import { cardId } from "./BoardCard";
import type { ColumnView } from "./useColumns";

/** The card that gets the focus, and the column that it must leave before. */
interface WantedFocus {
  id: number;
  from?: WorkflowState;
}

/** Puts the focus on a card after it has moved. Returns the function that says which card. */
export function useCardFocus(columns: readonly ColumnView[], stop: number | undefined): Dispatch<SetStateAction<WantedFocus | null>> {
  const [wanted, setWanted] = useState<WantedFocus | null>(null);
  useEffect(() => {
    if (wanted === null) return;
    const place = columns.find((column) => column.cards.some(({ message }) => message.id === wanted.id))?.state;
    if (place !== undefined && place === wanted.from) return;
    // A card in a collapsed column or outside the filter cannot have the focus, so another card gets it.
    const card = document.getElementById(cardId(wanted.id)) ?? (stop === undefined ? null : document.getElementById(cardId(stop)));
    card?.focus();
    setWanted(null);
  }, [wanted, columns, stop]);
  return setWanted;
}
