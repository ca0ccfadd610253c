import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Star } from "lucide-react";

import { sentenceOf } from "../api/problem";
import { type StarId, setStar, starredQuery } from "../api/stars";
import { IconButton } from "../ui/Button";
import { toast } from "../ui/Toasts";
import { classes } from "../ui/classes";

/** Moves a conversation to the top of the sidebar, and back. */
export function StarButton({ id, className }: { id: StarId; className?: string }) {
  const client = useQueryClient();
  const isStarred = useQuery({ ...starredQuery, select: (ids) => ids.has(id) }).data ?? false;
  const toggle = () => void setStar(client, id, !isStarred).catch((error: unknown) => toast(sentenceOf(error), { isError: true }));
  return (
    <IconButton label="Star" aria-pressed={isStarred} title={isStarred ? "Remove the star" : "Add a star"} className={className} onClick={toggle}>
      <Star size={16} aria-hidden="true" className={classes(isStarred && "fill-current text-amber")} />
    </IconButton>
  );
}
