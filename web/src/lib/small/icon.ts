import { type SVGProps, createElement } from "react";

/** An icon as lucide describes it. */
interface IconData {
  node: ReadonlyArray<readonly [tag: string, attributes: Record<string, string>]>;
}

type IconProps = SVGProps<SVGSVGElement> & { size?: number | string };

const ATTRIBUTES = {
  xmlns: "http://www.w3.org/2000/svg",
  viewBox: "0 0 24 24",
  fill: "none",
  stroke: "currentColor",
  strokeWidth: 2,
  strokeLinecap: "round",
  strokeLinejoin: "round",
} as const;

/** Stands in for lucide's own function, which offers more than the page uses and does more work for each icon that is drawn. */
export default function createIcon({ node }: IconData) {
  return function Icon({ size = 24, ...props }: IconProps) {
    const isNamed = "aria-label" in props || "aria-labelledby" in props || "role" in props;
    const shapes = node.map(([tag, attributes]) => createElement(tag, attributes));
    return createElement("svg", { ...ATTRIBUTES, width: size, height: size, "aria-hidden": isNamed ? undefined : "true", ...props }, ...shapes);
  };
}
