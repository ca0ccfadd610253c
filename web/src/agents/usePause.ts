import { useQueryClient } from "@tanstack/react-query";

import { pauseAgent, resumeAgent } from "../api/agents";
import { sentenceOf } from "../api/problem";
import type { Agent } from "../api/types";
import type { MenuAction } from "../ui/MenuButton";
import { toast } from "../ui/Toasts";

/** The line of a menu that pauses an agent of the person, or lets it work again. */
export function usePause(): (agent: Agent) => MenuAction {
  const client = useQueryClient();
  const orSay = (work: Promise<unknown>) => void work.catch((error: unknown) => toast(sentenceOf(error), { isError: true }));
  return ({ name, display_name, paused_at }) => {
    const shown = display_name || name;
    const resume = () => orSay(resumeAgent(client, name).then(() => toast(`${shown} works again.`)));
    const pause = () => orSay(pauseAgent(client, name).then(() => toast(`${shown} is paused.`, { undo: resume })));
    return paused_at ? { label: `Resume ${shown}`, onSelect: resume } : { label: `Pause ${shown}`, onSelect: pause };
  };
}
