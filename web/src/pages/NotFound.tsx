import { Link } from "@tanstack/react-router";

import { Page } from "../ui/Page";
import { Empty } from "../ui/States";

export function NotFound() {
  return (
    <Page title="Not here">
      <Empty title="There is nothing at this address, or it is not for you">
        <Link to="/inbox" className="text-accent underline">
          Go to your inbox
        </Link>
      </Empty>
    </Page>
  );
}
