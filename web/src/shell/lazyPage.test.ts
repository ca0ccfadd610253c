// @vitest-environment jsdom

import { afterEach, expect, test, vi } from "vitest";

import { build } from "./build";
import { lazyPage, reloadIfOutdated, retryPages } from "./lazyPage";

const BUILD = "0123456789abcdef";

afterEach(() => {
  vi.unstubAllGlobals();
  sessionStorage.clear();
  build.set({ first: null, latest: null });
});

function loader() {
  const state = { isDown: true, times: 0 };
  const load = () => {
    state.times += 1;
    return state.isDown ? Promise.reject(new TypeError("Failed to fetch dynamically imported module")) : Promise.resolve({ Page: () => null });
  };
  return { state, page: lazyPage(load, "Page") };
}

test("a page that could not be loaded is loaded when somebody tries again", async () => {
  const { state, page } = loader();
  await page.preload();
  expect(() => page({})).toThrow("dynamically imported");
  state.isDown = false;
  await retryPages();
  expect(page({})).toMatchObject({ props: {} });
  await page.preload();
  expect(state.times).toBe(2);
});

test("a page that is older than the one of the hub is reloaded once", async () => {
  const reload = vi.fn();
  vi.stubGlobal("location", { ...location, reload });
  vi.stubGlobal("fetch", vi.fn().mockImplementation(() => Promise.resolve(new Response(BUILD))));
  build.set({ first: "fedcba9876543210", latest: "fedcba9876543210" });
  await reloadIfOutdated();
  await reloadIfOutdated();
  expect(reload).toHaveBeenCalledTimes(1);
});

test("while the hub has the same version, nothing is reloaded", async () => {
  const reload = vi.fn();
  vi.stubGlobal("location", { ...location, reload });
  vi.stubGlobal("fetch", vi.fn().mockImplementation(() => Promise.resolve(new Response(BUILD))));
  build.set({ first: BUILD, latest: BUILD });
  await reloadIfOutdated();
  expect(reload).not.toHaveBeenCalled();
});
