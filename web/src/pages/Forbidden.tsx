import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { Page } from "../ui/Page";
import { Empty } from "../ui/States";

/** A page that is there, but not for this person. */
export function Forbidden({ children }: { children: ReactNode }) {
  return (
    <Page title="Not allowed">
      <Empty title="Admins only">
        <p>{children}</p>
        <p className="pt-2">
          <Link to="/inbox" className="text-accent underline">
            Open inbox
          </Link>
        </p>
      </Empty>
    </Page>
  );
}
