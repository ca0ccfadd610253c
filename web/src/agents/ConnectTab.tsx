import { Link } from "@tanstack/react-router";

import { ClientSettings } from "./ClientSettings";
import { LiveCalls } from "./LiveCalls";
import { NoContact } from "./NoContact";
import { useContact } from "./contact";

/** How a client becomes this agent, and whether it has. */
export function ConnectTab({ name }: { name: string }) {
  const contact = useContact(name, false);
  return (
    <div className="grid gap-6 p-6 max-md:px-4 xl:grid-cols-[minmax(0,48rem)_minmax(0,360px)]">
      <div className="flex min-w-0 flex-col gap-5">
        <div>
          <h2 className="text-lg font-semibold">Connect a client</h2>
          <p className="text-muted">
            Add Stoa to the client that runs this agent. Any client that uses its key acts as @{name}.
          </p>
        </div>
        <ClientSettings
          name={name}
          noKey={
            <>
              Set the environment variable STOA_MCP_KEY to the key, or enter it when the client asks. Use the key you saved, or{" "}
              <Link to="/agents/$name" params={{ name }} search={{ tab: "keys" }} className="underline">
                create a new one
              </Link>
              .
            </>
          }
        />
      </div>
      <div className="flex min-w-0 flex-col gap-4">
        <LiveCalls name={name} contact={contact} />
        {contact.isFresh ? null : <NoContact name={name} />}
      </div>
    </div>
  );
}
