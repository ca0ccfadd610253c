import { store } from "../lib/store";
import type { Link } from "./stream";

/** Whether the page is connected to the hub. */
export const link = store<Link>("connecting");
