import { type RefObject, useEffect, useState } from "react";

/** A row, and all that is above and below the list: about, until it is measured. */
const ROW = 28;
const AROUND = 250;

/** How many rows the list of the sidebar has room for. */
export function useRoom(list: RefObject<HTMLElement | null>): number {
  const [room, setRoom] = useState(() => Math.floor((innerHeight - AROUND) / ROW));
  useEffect(() => {
    const box = list.current;
    if (!box) return;
    const observer = new ResizeObserver(() => setRoom(Math.floor(box.clientHeight / (box.querySelector("a")?.offsetHeight || ROW))));
    observer.observe(box);
    return () => observer.disconnect();
  }, [list]);
  return room;
}
