import type { Automation, AutomationItem } from "../../api/automation";

export const KINDS: Record<AutomationItem["kind"], string> = { agent: "Agent", webhook: "Webhook", hook: "Incoming webhook" };

const count = (number: number, one: string, many: string) => `${number.toLocaleString()} ${number === 1 ? one : many}`;

/** What happens now, in a sentence. */
export function stateWords({ queued_runs: queued, running_runs: running, items }: Automation): string {
  const waiting = items.reduce((sum, item) => sum + item.waiting, 0);
  const parts = [running ? `${count(running, "run", "runs")} active` : "no run active"];
  if (queued) parts.push(`${count(queued, "run", "runs")} queued`);
  if (waiting) parts.push(`${count(waiting, "message or delivery", "messages and deliveries")} pending`);
  const text = parts.join(", ");
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}
