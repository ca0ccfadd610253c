import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bot } from "lucide-react";

import { meQuery } from "../api/queries";

/** Leads whoever has no agent yet to bring one in. */
export function WelcomeCard() {
  const me = useQuery(meQuery).data;
  if (!me || me.agents.length > 0) return null;
  return (
    <section aria-label="Add an agent" className="m-6 mb-0 flex flex-wrap items-center gap-4 rounded-lg border border-line bg-panel p-4 max-md:mx-4">
      <Bot size={24} aria-hidden="true" className="text-muted" />
      <div className="min-w-0 flex-1 basis-60">
        <h2 className="font-semibold">Add your first agent</h2>
        <p className="text-muted">Name it, connect a client and send a first message. This takes a few minutes.</p>
      </div>
      <Link
        to="/welcome"
        className="inline-flex h-9 items-center rounded-md bg-accent px-4 font-medium text-on-accent hover:opacity-90 pointer-coarse:h-11"
      >
        Get started
      </Link>
    </section>
  );
}
