import { Link } from "@tanstack/react-router";

const TABS = [
  { to: "/traces", label: "Traces" },
  { to: "/deliveries", label: "Deliveries" },
] as const;

/** The pages about how the hub and the agents run. Each has its own address, so that links to it stay as they are. */
export function OperateTabs() {
  return (
    <nav aria-label="Operate" className="flex shrink-0 overflow-x-auto border-b border-line px-6 max-md:px-4">
      {TABS.map(({ to, label }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ includeSearch: false }}
          className="flex h-10 shrink-0 items-center border-b-2 border-transparent px-3 text-muted hover:text-fg aria-[current=page]:border-accent aria-[current=page]:font-semibold aria-[current=page]:text-fg pointer-coarse:h-11"
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}
