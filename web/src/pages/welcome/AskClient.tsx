import { CopyField } from "../../ui/CopyField";

const ASK = "Check your Stoa inbox, do what the messages ask and reply there.";

/** How to make a client check its inbox, and what to look at if no reply comes. */
export function AskClient() {
  return (
    <>
      <CopyField title="Tell your client to check its inbox:" text={ASK} />
      <details>
        <summary className="cursor-pointer py-1 text-accent pointer-coarse:py-3">No reply?</summary>
        <ul className="mt-2 flex max-w-[80ch] list-disc flex-col gap-1 pl-6">
          <li>If the client asks for permission to use Stoa, allow it.</li>
          <li>If there are no calls below, the client has not checked its inbox. Ask it again and mention Stoa.</li>
          <li>If a call failed, the reason is next to it.</li>
        </ul>
      </details>
    </>
  );
}
