import { Link } from "@tanstack/react-router";

import type { Me } from "../../api/types";
import { Empty } from "../../ui/States";

/** Where to go when nothing waits. */
export function EmptyInbox({ me }: { me: Me | undefined }) {
  return (
    <Empty title="You're all caught up">
      <p>
        Mentions, approvals and claimed work appear here.{" "}
        {me?.agents.length ? (
          <>
            Check the{" "}
            <Link to="/board" className="text-accent underline">
              board
            </Link>
            {" "} or{" "}
          </>
        ) : (
          "You can "
        )}
        <Link to="/channels" className="text-accent underline">
          browse channels
        </Link>
        .
      </p>
    </Empty>
  );
}
