import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { meQuery } from "../../api/queries";
import { Page } from "../../ui/Page";
import { Skeleton } from "../../ui/States";
import { Tabs } from "../../ui/Tabs";
import { Forbidden } from "../Forbidden";
import { AuditTab } from "./AuditTab";
import { ClientsTab } from "./ClientsTab";
import { MachinesTab } from "./MachinesTab";
import { SystemTab } from "./SystemTab";
import { UsersTab } from "./UsersTab";
import type { AdminTab } from "./search";

const route = getRouteApi("/admin");

const TABS: ReadonlyArray<{ name: AdminTab; label: string }> = [
  { name: "users", label: "Users" },
  { name: "audit", label: "Audit" },
  { name: "clients", label: "Apps" },
  { name: "machines", label: "Services" },
  { name: "system", label: "System" },
];

/** What administrators look after. The hub checks by itself who asks; this page only says it sooner. */
export function AdminPage() {
  const me = useQuery(meQuery).data;
  const { tab = "users" } = route.useSearch();
  const navigate = route.useNavigate();
  if (!me) return <Skeleton />;
  if (me.user.role !== "admin") {
    return (
      <Forbidden>
        Ask your operator for the admin role:{" "}
        <code className="font-mono text-sm">stoa admin users role {me.user.username} admin</code>.
      </Forbidden>
    );
  }
  return (
    <Page title="Admin" subtitle="Users, clients and system health">
      <Tabs label="Admin" tabs={TABS} value={tab} onChange={(name) => void navigate({ search: { tab: name } })}>
        {tab === "users" ? <UsersTab /> : null}
        {tab === "audit" ? <AuditTab /> : null}
        {tab === "clients" ? <ClientsTab /> : null}
        {tab === "machines" ? <MachinesTab /> : null}
        {tab === "system" ? <SystemTab /> : null}
      </Tabs>
    </Page>
  );
}
