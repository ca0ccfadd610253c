import { toast } from "./Toasts";

/** Puts a text where the person can paste it from. Without https, browsers have only the old way. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    if (copyByHand(text)) return true;
    toast("Your browser blocked copying. Select the text and copy it.", { isError: true });
    return false;
  }
}

function copyByHand(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.setAttribute("readonly", "");
  area.className = "fixed opacity-0";
  // Inside an open dialog, for it takes the focus back from everything outside.
  (document.querySelector("[role=dialog]") ?? document.body).append(area);
  const focused = document.activeElement;
  area.select();
  let isDone = false;
  try {
    isDone = document.execCommand("copy");
  } catch {
    // Then it is told.
  }
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isDone;
}
