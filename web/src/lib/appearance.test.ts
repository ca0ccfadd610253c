// @vitest-environment jsdom

import { afterEach, expect, test } from "vitest";

import { APPEARANCE, appearance, applyAppearance, chooseAppearance, followAppearance, hasSingleKeys } from "./appearance";

afterEach(() => {
  localStorage.clear();
  appearance.set({});
});

// jsdom has no screen, and so no preferences.
window.matchMedia ??= () => ({ matches: false, addEventListener() {}, removeEventListener() {} }) as unknown as MediaQueryList;

test("what is chosen is kept, beside what was chosen before", () => {
  chooseAppearance({ theme: "dark" });
  chooseAppearance({ keys: "off" });
  expect(JSON.parse(localStorage.getItem(APPEARANCE)!)).toEqual({ theme: "dark", keys: "off" });
  expect(hasSingleKeys()).toBe(false);
});

test("the theme is the chosen one, else that of the system", () => {
  const root = document.documentElement;
  for (const [theme, isSystemDark, isDark] of [
    ["dark", false, true],
    ["light", true, false],
    ["system", true, true],
    [undefined, false, false],
  ] as const) {
    applyAppearance(theme ? { theme } : {}, isSystemDark);
    expect(root.classList.contains("dark"), `${theme} ${isSystemDark}`).toBe(isDark);
  }
});

test("it takes effect at once, here and when another tab chose it", () => {
  const stop = followAppearance();
  const root = document.documentElement;
  chooseAppearance({ density: "compact", text: "large" });
  expect([root.dataset["density"], root.dataset["text"]]).toEqual(["compact", "large"]);
  localStorage.setItem(APPEARANCE, JSON.stringify({ density: "comfortable" }));
  window.dispatchEvent(new StorageEvent("storage", { key: APPEARANCE }));
  expect([root.dataset["density"], root.dataset["text"]]).toEqual(["comfortable", "medium"]);
  stop();
});
