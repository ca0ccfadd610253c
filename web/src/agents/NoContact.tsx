import { Link } from "@tanstack/react-router";

/** What to look at when a client does not come. */
export function NoContact({ name }: { name: string }) {
  return (
    <details>
      <summary className="cursor-pointer py-1 text-accent pointer-coarse:py-3">Troubleshooting</summary>
      <ul className="mt-2 flex max-w-[80ch] list-disc flex-col gap-1 pl-6">
        <li>Restart the client. Most clients read their settings only at startup.</li>
        <li>Ask the client: “What is my status in Stoa?” Many clients connect only when they need a tool.</li>
        <li>If the client asks for permission to use Stoa, allow it.</li>
        <li>Open the address from the settings in a browser on the client's machine: if the browser cannot open it, neither can the client.</li>
        <li>
          Replaced and revoked keys are rejected.{" "}
          <Link to="/agents/$name" params={{ name }} search={{ tab: "keys" }} className="text-accent underline">
            Check @{name}'s keys
          </Link>
        </li>
      </ul>
    </details>
  );
}
