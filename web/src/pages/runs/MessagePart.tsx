import { Link } from "@tanstack/react-router";

import type { Message } from "../../api/types";
import { linkTo, placeOf } from "../../messages/place";
import { useMe } from "../../shell/me";
import { AuthorName } from "../../ui/AuthorName";
import { Shown } from "../../ui/Shown";
import { Box } from "./TimelineEntry";

const MOST_OF_MESSAGE = 600;

/** The beginning of a message that belongs to a run. */
export function MessagePart({ message }: { message: Message }) {
  return (
    <Box>
      <p className="flex flex-wrap items-baseline gap-x-2">
        <AuthorName from={message.from} />
      </p>
      <p className="whitespace-pre-wrap">
        <Shown text={message.body} most={MOST_OF_MESSAGE} title="Full message" />
      </p>
    </Box>
  );
}

/** Leads to a message in its conversation. */
export function OpenMessage({ message }: { message: Message }) {
  const me = useMe();
  return (
    <Link
      {...linkTo(placeOf(message, me), { at: message.id })}
      className="inline-flex min-h-6 items-center text-accent hover:underline pointer-coarse:min-h-11"
    >
      Open message
    </Link>
  );
}

/** Where a message was written. */
export const whereOf = (message: Message) => (message.channel ? `#${message.channel}` : "direct message");
