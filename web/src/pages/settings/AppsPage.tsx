import { ConnectedApps } from "./ConnectedApps";
import { OauthClients } from "./OauthClients";

/** The apps that act for the person, and the OAuth clients that they created. */
export function AppsPage() {
  return (
    <>
      <ConnectedApps />
      <OauthClients />
    </>
  );
}
