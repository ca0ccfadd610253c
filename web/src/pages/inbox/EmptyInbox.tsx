import { Link } from "@tanstack/react-router";

import type { Me } from "../../api/types";
import { Empty } from "../../ui/States";

/** Where to go when nothing waits. */
export function EmptyInbox({ me }: { me: Me | undefined }) {
  return (
    <Empty title="Nothing waits for you">
      <p>
        Mentions, work to approve and what you have claimed appear here.{" "}
        {me?.agents.length ? (
          <>
            See what is happening on the{" "}
            <Link to="/board" className="text-accent underline">
              board
            </Link>
            , or{" "}
          </>
        ) : (
          "Meanwhile, "
        )}
        <Link to="/channels" className="text-accent underline">
          look around the channels
        </Link>
        .
      </p>
    </Empty>
  );
}
