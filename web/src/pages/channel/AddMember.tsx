import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type KeyboardEvent, useId, useState } from "react";

import { api, ok } from "../../api/client";
import type { ChannelDetails } from "../../api/types";
import { Avatar } from "../../ui/Avatar";
import { Button } from "../../ui/Button";
import { Field, INPUT } from "../../ui/Field";
import { MOST_OF_LINE, Shown } from "../../ui/Shown";
import { FormError } from "../../ui/TextField";
import { toast } from "../../ui/Toasts";
import { classes } from "../../ui/classes";

/** Brings somebody in, by a name that is completed from the directory. */
export function AddMember({ details, own, isManager }: { details: ChannelDetails; own: string[]; isManager: boolean }) {
  const client = useQueryClient();
  const { name } = details.channel;
  const listId = useId();
  const [typed, setTyped] = useState("");
  const [isOpen, setOpen] = useState(false);
  const [chosen, setChosen] = useState(0);
  const sought = typed.trim().replace(/^@/, "");
  const found = useQuery({
    queryKey: ["directory", sought],
    queryFn: () => ok(api.GET("/api/directory", { params: { query: { q: sought, limit: 20 } } })),
    enabled: isOpen,
    staleTime: 30_000,
    placeholderData: (before) => before,
  });
  const isIn = (who: string) => details.members.some((member) => member.name === who);
  // Who does not answer for the channel brings in only their own agents.
  const cards = (found.data?.items ?? [])
    .filter((card) => card.kind !== "system" && !isIn(card.name) && (isManager || own.includes(card.name)))
    .slice(0, 8);
  const add = useMutation({
    mutationFn: (who: string) =>
      ok(api.PUT("/api/channels/{name}/members/{principal}", { params: { path: { name, principal: who } } })),
    onSuccess: (_, who) => {
      setTyped("");
      void client.invalidateQueries({ queryKey: ["channel", name] });
      void client.invalidateQueries({ queryKey: ["channels"] });
      toast(`@${who} added to #${name}`);
    },
  });
  const take = (who: string | undefined) => {
    if (!who) return;
    setOpen(false);
    add.mutate(who);
  };
  const isListed = isOpen && cards.length > 0;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      setOpen(true);
      const step = event.key === "ArrowDown" ? 1 : -1;
      if (cards.length) setChosen((now) => (now + step + cards.length) % cards.length);
    } else if (event.key === "Escape" && isOpen) {
      event.preventDefault();
      setOpen(false);
    } else if (event.key === "Enter" && isListed) {
      event.preventDefault();
      take((cards[chosen] ?? cards[0])?.name);
    }
  };
  return (
    <form
      className="flex max-w-md flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        take(sought);
      }}
    >
      <div className="flex items-end gap-2">
        <div className="relative min-w-0 flex-1">
          <Field label={isManager ? "Add a person or an agent" : "Add one of your agents"}>
            {(wiring) => (
              <input
                {...wiring}
                role="combobox"
                aria-autocomplete="list"
                aria-expanded={isListed}
                aria-controls={isListed ? listId : undefined}
                aria-activedescendant={isListed ? `${listId}-${chosen}` : undefined}
                autoComplete="off"
                placeholder="name"
                value={typed}
                onChange={(event) => {
                  setTyped(event.target.value);
                  setChosen(0);
                  setOpen(true);
                  add.reset();
                }}
                onFocus={() => setOpen(true)}
                onBlur={() => setOpen(false)}
                onKeyDown={onKeyDown}
                className={INPUT}
              />
            )}
          </Field>
          {isListed ? (
            <ul
              id={listId}
              // At the end of the page it would open out of sight.
              ref={(list) => list?.scrollIntoView({ block: "nearest" })}
              role="listbox"
              aria-label="Names"
              className="absolute top-full left-0 z-30 mt-1 w-full rounded-md border border-line bg-bg p-1 shadow-lg"
            >
              {cards.map((card, at) => (
                <li
                  key={card.name}
                  id={`${listId}-${at}`}
                  role="option"
                  aria-selected={at === chosen}
                  onMouseDown={(event) => {
                    event.preventDefault();
                    take(card.name);
                  }}
                  className={classes(
                    "flex h-8 cursor-pointer items-center gap-2 rounded-sm px-2 pointer-coarse:h-11",
                    at === chosen && "bg-selected",
                  )}
                >
                  <Avatar name={card.name} kind={card.kind} displayName={card.display_name} size="small" />
                  <span className="font-medium">{card.name}</span>
                  <span className="min-w-0 truncate text-muted">
                    <Shown text={card.kind === "user" ? card.display_name : `${card.kind} of ${card.owner ?? "nobody"}`} most={MOST_OF_LINE} />
                  </span>
                </li>
              ))}
            </ul>
          ) : null}
        </div>
        <Button type="submit" size="form" disabled={!sought || add.isPending}>
          Add
        </Button>
      </div>
      <FormError error={add.error} />
    </form>
  );
}
