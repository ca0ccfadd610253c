import { useQueryClient } from "@tanstack/react-query";

import { sentenceOf } from "../../api/problem";
import type { Message, Unread } from "../../api/types";
import { markRead } from "../../api/workflow";
import { toast } from "../../ui/Toasts";

/** Marks conversations as read. Undoing it restores how far each was read before. */
export function useReadAll() {
  const client = useQueryClient();
  const refresh = () => {
    void client.invalidateQueries({ queryKey: ["unread"] });
    void client.invalidateQueries({ queryKey: ["partners"] });
  };
  return async (unread: readonly Unread[]) => {
    try {
      await Promise.all(unread.map((one) => markRead(one)));
      const undo = async () => {
        try {
          await Promise.all(unread.map((one) => markRead(one, one.last_read_message_id ?? 0)));
        } catch (error) {
          toast(sentenceOf(error), { isError: true });
        }
        refresh();
      };
      toast("All marked as read", { undo: () => void undo() });
    } catch (error) {
      toast(sentenceOf(error), { isError: true });
    }
    refresh();
  };
}

/** Marks a channel as read up to a message that mentions the person. */
export function useReadUpTo() {
  const client = useQueryClient();
  const mark = async (channel: string, id: number) => {
    await markRead({ kind: "channel", name: channel }, id);
    client.setQueryData<Unread[]>(["unread"], (now) =>
      now?.map((one) => (one.kind === "channel" && one.name === channel ? { ...one, last_read_message_id: id } : one)),
    );
    void client.invalidateQueries({ queryKey: ["unread"] });
  };
  return async (message: Message) => {
    const { channel } = message;
    if (!channel) return;
    const before = client.getQueryData<Unread[]>(["unread"])?.find((one) => one.kind === "channel" && one.name === channel);
    try {
      await mark(channel, message.id);
      toast(`#${channel} marked as read`, {
        undo: () => void mark(channel, before?.last_read_message_id ?? 0).catch((error: unknown) => toast(sentenceOf(error), { isError: true })),
      });
    } catch (error) {
      toast(sentenceOf(error), { isError: true });
    }
  };
}
