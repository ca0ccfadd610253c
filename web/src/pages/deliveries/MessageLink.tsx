import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { messageQuery } from "../../api/queries";
import { linkTo, placeOf } from "../../messages/place";
import { useMe } from "../../shell/me";

/** Leads to the message that a delivery is about, if the person sees it. */
export function MessageLink({ id }: { id: number }) {
  const me = useMe();
  const message = useQuery({ ...messageQuery(id), retry: false }).data;
  if (!message) return null;
  return (
    <Link {...linkTo(placeOf(message, me), { at: id })} className="ml-auto inline-flex min-h-7 items-center text-accent hover:underline">
      Open message
    </Link>
  );
}
