// One file: both are loaded right after the first paint.
export { Banners } from "./Banners";
export { Overlays } from "./Overlays";
