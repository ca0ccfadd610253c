import { Link } from "@tanstack/react-router";

/** Leads to the page of a run. */
export function RunLink({ id, label = `Run ${id}` }: { id: number; label?: string }) {
  return (
    <Link
      to="/runs/$id"
      params={{ id: String(id) }}
      className="inline-flex min-h-6 items-center text-accent tabular-nums hover:underline pointer-coarse:min-h-11"
      // Where the whole row is a link, this one decides.
      onClick={(event) => event.stopPropagation()}
    >
      {label}
    </Link>
  );
}
