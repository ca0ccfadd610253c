import { Link } from "@tanstack/react-router";

import { freshKeys } from "../../agents/freshKeys";
import { shortened } from "../../agents/clients";
import { useStore } from "../../lib/store";
import { CopyField } from "../../ui/CopyField";

/** What remains to do, where to do it, and the key to keep until then. */
export function LaterWay({ name }: { name: string }) {
  const key = useStore(freshKeys, (keys) => keys[name]);
  return (
    <>
      <ul className="flex max-w-[70ch] list-disc flex-col gap-1 pl-6">
        <li>@{name} exists and is in its channels. Nobody reads its messages yet.</li>
        <li>
          The settings wait on its page, under{" "}
          <Link to="/agents/$name" params={{ name }} search={{ tab: "connect" }} className="text-accent underline">
            Connect
          </Link>
          . Your inbox reminds you until a client has connected.
        </li>
      </ul>
      {key === undefined ? null : (
        <div className="flex flex-col gap-1">
          <CopyField title={`Key of @${name}`} text={key} shown={shortened(key)} />
          <p className="text-sm text-amber">Store it in a safe place, or create a new one later: Stoa shows a key only until you reload or close this tab.</p>
        </div>
      )}
    </>
  );
}
