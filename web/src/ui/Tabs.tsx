import * as Radix from "@radix-ui/react-tabs";
import { type ReactNode, useEffect, useRef } from "react";

/** Parts of a page of which one is shown. Which one, its user keeps: most often in the address. */
export function Tabs<Name extends string>({
  label,
  tabs,
  value,
  onChange,
  children,
}: {
  label: string;
  tabs: ReadonlyArray<{ name: Name; label: ReactNode }>;
  value: Name;
  onChange: (name: Name) => void;
  children: ReactNode;
}) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // On a small screen the tabs are a line that scrolls; the one that is open is in sight.
    list.current?.querySelector("[data-state=active]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [value]);
  return (
    <Radix.Root value={value} onValueChange={(name) => onChange(name as Name)}>
      <Radix.List ref={list} aria-label={label} className="flex overflow-x-auto border-b border-line px-6 max-md:px-4">
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.name}
            value={tab.name}
            className="h-10 shrink-0 border-b-2 border-transparent px-3 text-muted hover:text-fg data-[state=active]:border-accent data-[state=active]:font-semibold data-[state=active]:text-fg pointer-coarse:h-11"
          >
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      <Radix.Content value={value}>{children}</Radix.Content>
    </Radix.Root>
  );
}
