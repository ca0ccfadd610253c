import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";

import { usePause } from "../agents/usePause";
import type { Profile } from "../api/directory";
import { sentenceOf } from "../api/problem";
import { meQuery } from "../api/queries";
import { type StarId, setStar, starredQuery } from "../api/stars";
import { MenuButton } from "../ui/MenuButton";
import { toast } from "../ui/Toasts";
import { copy } from "../ui/copy";
import { profileLink } from "./profileLink";

/** What can be done with a person or an agent from their card. */
export function ProfileMenu({ profile: { name } }: { profile: Profile }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const pauseOf = usePause();
  const me = useQuery(meQuery).data;
  const id: StarId = `dm:${name}`;
  const isStarred = useQuery({ ...starredQuery, select: (ids) => ids.has(id) }).data ?? false;
  const own = me?.agents.find((agent) => agent.name === name);
  const orSay = (work: Promise<unknown>) => void work.catch((error: unknown) => toast(sentenceOf(error), { isError: true }));
  const copyLink = async () => {
    // The page that everybody may open. Only the owner of an agent has the one with its settings.
    if (await copy(`${location.origin}/people/${name}`)) toast("Link copied.");
  };
  const conversation = [
    { label: "Message", onSelect: () => void navigate({ to: "/dm/$name", params: { name } }) },
    { label: isStarred ? "Remove star" : "Add star", onSelect: () => orSay(setStar(client, id, !isStarred)) },
  ];
  return (
    <MenuButton
      label={`More for @${name}`}
      actions={[
        { label: "Open profile", onSelect: () => void navigate(profileLink(name, me)) },
        ...(me?.user.username === name ? [] : conversation),
        { label: "Copy link", onSelect: () => orSay(copyLink()) },
        ...(own ? [pauseOf(own)] : []),
      ]}
    />
  );
}
