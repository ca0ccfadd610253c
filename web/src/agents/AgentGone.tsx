import { Link } from "@tanstack/react-router";

import { Page } from "../ui/Page";
import { Empty } from "../ui/States";

/** An agent that was here a moment ago, and was taken away in another tab or by whoever operates the hub. */
export function AgentGone({ name }: { name: string }) {
  return (
    <Page title={`@${name}`}>
      <div role="alert">
        <Empty title={`@${name} is gone`}>
          <p>It was deleted, or it is no longer yours. Its keys no longer work here. What it wrote stays.</p>
          <p className="pt-4">
            <Link to="/agents" className="text-accent underline">
              Go to your agents
            </Link>
          </p>
        </Empty>
      </div>
    </Page>
  );
}
