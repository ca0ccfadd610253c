import { Link, type LinkComponentProps } from "@tanstack/react-router";

import { classes } from "./classes";

/** A link that looks like a button: the next step from a page or list without anything in it. */
export function ActionLink({ look = "outlined", className, ...rest }: LinkComponentProps & { look?: "filled" | "outlined" }) {
  return (
    <Link
      {...rest}
      className={classes(
        "inline-flex h-9 items-center gap-1.5 rounded-md border px-4 font-medium whitespace-nowrap pointer-coarse:h-11",
        look === "filled" ? "border-accent bg-accent text-on-accent hover:opacity-90" : "border-line bg-bg text-fg hover:bg-panel",
        className,
      )}
    />
  );
}

/** The buttons and links below the sentence of an empty page. */
export const NEXT_STEPS = "mt-4 flex flex-wrap justify-center gap-2";
