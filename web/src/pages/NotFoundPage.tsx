import { Link, useNavigate } from "@tanstack/react-router";
import type { FormEvent } from "react";

import { Button } from "../ui/Button";
import { INPUT } from "../ui/Field";
import { Page } from "../ui/Page";
import { Empty } from "../ui/States";

/** There is no such page, and where to go instead. */
export function NotFoundPage() {
  const navigate = useNavigate();
  const look = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const q = String(new FormData(event.currentTarget).get("q") ?? "").trim();
    void navigate({ to: "/search", search: q ? { q } : {} });
  };
  return (
    <Page title="Page not found">
      <Empty title="Not found, or you don't have access">
        <form role="search" aria-label="Messages" className="mt-2 flex gap-2" onSubmit={look}>
          <input name="q" type="search" aria-label="Search messages" placeholder="Search messages" maxLength={1000} className={INPUT} />
          <Button type="submit" size="form">
            Search
          </Button>
        </form>
        <p className="pt-4">
          <Link to="/inbox" className="text-accent underline">
            Open inbox
          </Link>
        </p>
      </Empty>
    </Page>
  );
}
