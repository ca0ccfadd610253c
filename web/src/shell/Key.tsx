/** A key of the keyboard. */
export function Key({ children }: { children: string }) {
  return <kbd className="rounded-sm border border-line bg-bg px-1.5 font-sans text-xs text-muted touch:hidden">{children}</kbd>;
}
