import { useQuery } from "@tanstack/react-query";
import { Link, getRouteApi } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

import { hooksQuery } from "../../api/hooks";
import { Empty, Failed, Skeleton } from "../../ui/States";
import { HookDetails } from "./HookDetails";
import { HookList } from "./HookList";

const route = getRouteApi("/settings/hooks");

/** The hooks of the person, or the one that the address names. */
export function HooksPage() {
  const { hook: id } = route.useSearch();
  const hooks = useQuery(hooksQuery);
  const box = useRef<HTMLDivElement>(null);
  const before = useRef(id);
  useEffect(() => {
    // The link that was followed is no longer in the page, so the keyboard would start at the top.
    if (before.current !== id) box.current?.focus();
    before.current = id;
  }, [id]);
  const hook = hooks.data?.find((one) => one.id === id);
  return (
    <div ref={box} tabIndex={-1} className="outline-none">
      {hooks.isError && !hooks.data ? <Failed error={hooks.error} retry={() => void hooks.refetch()} /> : null}
      {hooks.isLoading ? <Skeleton rows={3} /> : null}
      {hooks.data && id === undefined ? <HookList hooks={hooks.data} /> : null}
      {hook ? <HookDetails key={hook.id} hook={hook} /> : null}
      {hooks.data && id !== undefined && !hook ? (
        <Empty title="Hook not found">
          Deleted, or owned by someone else.{" "}
          <Link to="/settings/hooks" className="text-accent underline">
            Show all hooks
          </Link>
        </Empty>
      ) : null}
    </div>
  );
}
