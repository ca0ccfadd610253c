import { load, save } from "./storage";
import { store } from "./store";

/** How the person wants the page to look and act. What is left out is as it comes. */
export interface Appearance {
  theme?: "light" | "dark" | "system";
  density?: "comfortable" | "compact";
  text?: "small" | "medium" | "large";
  zone?: "local" | "utc";
  keys?: "on" | "off";
}

/** `first.js` reads the same before the first paint. */
export const APPEARANCE = "stoa.appearance";

export const appearance = store<Appearance>(load<Appearance>(APPEARANCE, {}));

export function chooseAppearance(change: Appearance): void {
  const next = { ...appearance.get(), ...change };
  save(APPEARANCE, next);
  appearance.set(next);
}

/** Whether keys without Ctrl or Alt do something (WCAG 2.1.4). */
export function hasSingleKeys(): boolean {
  return appearance.get().keys !== "off";
}

/** What `first.js` does at the start, again. */
export function applyAppearance(chosen: Appearance, isSystemDark: boolean): void {
  const root = document.documentElement;
  const isDark = chosen.theme === "dark" || (chosen.theme !== "light" && isSystemDark);
  root.classList.toggle("dark", isDark);
  document.querySelector("meta[name=theme-color]")?.setAttribute("content", isDark ? "#1b1f26" : "#f3f5f8");
  root.dataset["density"] = chosen.density === "compact" ? "compact" : "comfortable";
  root.dataset["text"] = chosen.text === "small" || chosen.text === "large" ? chosen.text : "medium";
}

/** Follows what is chosen here, in other tabs, and in the system. Returns how to stop. */
export function followAppearance(): () => void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => applyAppearance(appearance.get(), system.matches);
  const onStorage = (event: StorageEvent) => {
    // Without a key, everything was taken away.
    if (event.key === APPEARANCE || event.key === null) appearance.set(load<Appearance>(APPEARANCE, {}));
  };
  const stop = appearance.subscribe(apply);
  system.addEventListener("change", apply);
  window.addEventListener("storage", onStorage);
  apply();
  return () => {
    stop();
    system.removeEventListener("change", apply);
    window.removeEventListener("storage", onStorage);
  };
}
