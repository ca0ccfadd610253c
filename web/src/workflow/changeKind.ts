import type { QueryClient } from "@tanstack/react-query";

import { sentenceOf } from "../api/problem";
import type { Message } from "../api/types";
import { setKind } from "../api/workflow";
import { changeMessage } from "../messages/cache";
import { kindOf } from "../messages/work";
import { toast } from "../ui/Toasts";
import { briefly } from "./title";

/** Turns a message into work of a kind, or into talk, and shows it so everywhere. The person can undo it once. */
export async function changeKind(client: QueryClient, message: Message, kind: string | null, isUndo = false): Promise<void> {
  const before = kindOf(message) ?? null;
  const changed = await setKind(message.id, kind);
  changeMessage(client, message.id, () => changed);
  for (const key of ["board", "inbox"]) void client.invalidateQueries({ queryKey: [key] });
  const undo = () => void changeKind(client, changed, before, true).catch((error: unknown) => toast(sentenceOf(error), { isError: true }));
  toast(`${kind === null ? "Talk again" : "Turned into work"}: ${briefly(message)}`, isUndo ? {} : { undo });
}
