import { Link } from "@tanstack/react-router";

/** What to look at when a client does not come. */
export function NoContact({ name }: { name: string }) {
  return (
    <details>
      <summary className="cursor-pointer py-1 text-accent pointer-coarse:py-3">It does not connect</summary>
      <ul className="mt-2 flex max-w-[80ch] list-disc flex-col gap-1 pl-6">
        <li>Most clients read their settings only when they start: restart yours.</li>
        <li>Many connect only when they need something from here. Ask the client: “What is my status in Stoa?”</li>
        <li>Some ask before they use a new service: allow it.</li>
        <li>The address in the settings must be one that the client can reach. Open it in a browser on the machine where the client runs: if nothing answers there, the client gets no answer either.</li>
        <li>
          A key that was replaced or revoked is refused.{" "}
          <Link to="/agents/$name" params={{ name }} search={{ tab: "keys" }} className="text-accent underline">
            Look at the keys of @{name}
          </Link>
        </li>
      </ul>
    </details>
  );
}
