import type { QueryClient } from "@tanstack/react-query";

import type { Message } from "../api/types";
import { setKind } from "../api/workflow";
import { changeMessage } from "../messages/cache";
import { toast } from "../ui/Toasts";
import { briefly } from "./title";

/** Turns a message into work of a kind, or into talk, and shows it so everywhere. */
export async function changeKind(client: QueryClient, message: Message, kind: string | null): Promise<void> {
  const changed = await setKind(message.id, kind);
  changeMessage(client, message.id, () => changed);
  for (const key of ["board", "inbox"]) void client.invalidateQueries({ queryKey: [key] });
  toast(`${kind === null ? "Talk again" : "Turned into work"}: ${briefly(message)}`);
}
