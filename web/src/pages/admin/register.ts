/** What somebody runs who makes their own account with an invitation. There is no form for it. */
export function registerCommand(hub: string): string {
  const body = JSON.stringify({ invite: "INVITATION", username: "NAME", password: "PASSWORD", display_name: "FULL NAME" });
  return `curl -H 'Content-Type: application/json' ${hub}/auth/register -d '${body}'`;
}
