import type { ChannelDetails } from "../../api/types";
import { MOST_OF_LINE, Shown } from "../../ui/Shown";
import { MembersButton } from "./MembersButton";

/** The topic of a channel, on a phone after the number of its members. */
export function ChannelSubtitle({ details }: { details: ChannelDetails }) {
  const { topic } = details.channel;
  return (
    <>
      <MembersButton details={details} isLine />
      {topic ? <span className="sm:hidden"> · </span> : null}
      <Shown text={topic} most={MOST_OF_LINE} />
    </>
  );
}
