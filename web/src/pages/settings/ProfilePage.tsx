import { useQuery } from "@tanstack/react-query";

import { meQuery } from "../../api/queries";
import { Skeleton } from "../../ui/States";
import { DisplayNameForm } from "./DisplayNameForm";
import { PasswordForm } from "./PasswordForm";
import { SessionList } from "./SessionList";

/** The person's name, password and sessions. */
export function ProfilePage() {
  const me = useQuery(meQuery).data;
  return me ? (
    <>
      <DisplayNameForm me={me} />
      <PasswordForm username={me.user.username} />
      <SessionList />
    </>
  ) : (
    <Skeleton />
  );
}
