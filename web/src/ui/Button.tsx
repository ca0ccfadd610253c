import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";

import { classes } from "./classes";

type Look = "filled" | "outlined" | "plain" | "danger";

const LOOKS: Record<Look, string> = {
  filled: "bg-accent text-on-accent border-accent hover:opacity-90",
  outlined: "bg-bg text-fg border-line hover:bg-panel",
  plain: "border-transparent text-muted hover:bg-panel hover:text-fg",
  danger: "bg-bg text-rejected border-line hover:bg-panel",
};

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: Look;
  size?: "row" | "usual" | "form";
}

export function Button({ look = "outlined", size = "usual", className, type = "button", ...rest }: ButtonProps) {
  const height = { row: "h-6 text-sm px-2", usual: "h-7 px-2.5", form: "h-9 px-4" }[size];
  return (
    <button
      type={type}
      className={classes(
        "inline-flex items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap",
        "disabled:opacity-50 pointer-coarse:min-h-11",
        height,
        LOOKS[look],
        className,
      )}
      {...rest}
    />
  );
}

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  ref?: Ref<HTMLButtonElement>;
  label: string;
  children: ReactNode;
}

/** A button that is only a picture; its label is for whoever cannot see it, and for the tooltip. */
export function IconButton({ label, className, type = "button", children, ...rest }: IconButtonProps) {
  return (
    <button
      type={type}
      aria-label={label}
      title={label}
      className={classes(
        "inline-flex size-7 shrink-0 items-center justify-center rounded-md text-muted hover:bg-panel hover:text-fg",
        "disabled:opacity-50 pointer-coarse:size-11",
        className,
      )}
      {...rest}
    >
      {children}
    </button>
  );
}
