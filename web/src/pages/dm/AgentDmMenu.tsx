import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";

import { usePause } from "../../agents/usePause";
import { sentenceOf } from "../../api/problem";
import type { Agent } from "../../api/types";
import { markUnread } from "../../messages/markUnread";
import { profileLink } from "../../profiles/profileLink";
import { useMe } from "../../shell/me";
import { MenuButton } from "../../ui/MenuButton";
import { toast } from "../../ui/Toasts";
import { copy } from "../../ui/copy";

/** What can be done with a direct message with an agent, and with the agent if it is the person's own. */
export default function AgentDmMenu({ name, own }: { name: string; own?: Agent }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const pauseOf = usePause();
  const me = useMe();
  const place = { kind: "dm", name } as const;
  const orSay = (work: Promise<unknown>) => void work.catch((error: unknown) => toast(sentenceOf(error), { isError: true }));
  const copyLink = async () => {
    if (await copy(`${location.origin}/dm/${name}`)) toast("Link copied.");
  };
  const keepUnread = async () => {
    if (!(await markUnread(client, place, me?.user.username))) toast(`@${name} has not written anything yet.`);
    else toast("Marked as unread.");
  };
  return (
    <MenuButton
      label={`Actions for @${name}`}
      actions={[
        { label: "Open profile", onSelect: () => void navigate(profileLink(name, me)) },
        ...(own
          ? [
              { label: "Show runs", onSelect: () => void navigate({ to: "/runs", search: { agent: name } }) },
              { label: "Run settings", onSelect: () => void navigate({ to: "/agents/$name", params: { name }, search: { tab: "runs" } }) },
            ]
          : []),
        { label: "Mark unread", onSelect: () => orSay(keepUnread()) },
        { label: "Copy link", onSelect: () => orSay(copyLink()) },
        ...(own ? [pauseOf(own)] : []),
      ]}
    />
  );
}
