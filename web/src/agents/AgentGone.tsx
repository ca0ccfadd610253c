import { Link } from "@tanstack/react-router";

import { Page } from "../ui/Page";
import { Empty } from "../ui/States";

/** An agent that was here a moment ago, and was taken away in another tab or by whoever operates the hub. */
export function AgentGone({ name }: { name: string }) {
  return (
    <Page title={`@${name}`}>
      <div role="alert">
        <Empty title={`@${name} not found`}>
          <p>Deleted, or no longer yours. Its messages remain, but its keys no longer work.</p>
          <p className="pt-4">
            <Link to="/agents" className="text-accent underline">
              Show your agents
            </Link>
          </p>
        </Empty>
      </div>
    </Page>
  );
}
