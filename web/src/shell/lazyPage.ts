import { type ComponentType, type FunctionComponent, createElement, use } from "react";

import { askForBuild, build } from "./build";

/** Pages that could not be loaded, by how to load them. */
const failed = new Set<() => Promise<void>>();

const RELOADED = "stoa.reloaded";

/** When the hub has a newer page, the old one's parts are gone, and only a reload helps: once for each version. */
export async function reloadIfOutdated(): Promise<void> {
  await askForBuild();
  const { first, latest } = build.get();
  if (first === latest || latest === null) return;
  try {
    if (sessionStorage.getItem(RELOADED) === latest) return;
    sessionStorage.setItem(RELOADED, latest);
  } catch {
    // Without storage the page might reload again and again.
    return;
  }
  location.reload();
}

type Page = FunctionComponent & { preload: () => Promise<void> };

/** A page whose code is loaded when somebody goes there, or before. If that fails, it throws, and `retryPages` tries again. */
export function lazyPage<Part extends object>(load: () => Promise<Part>, name: keyof Part): Page {
  let loaded: ComponentType | undefined;
  let error: unknown;
  let loading: Promise<void> | undefined;
  const preload = () => {
    // Whoever asks again wants another try.
    if (error !== undefined) loading = error = undefined;
    return (loading ??= load().then(
      (part) => {
        loaded = part[name] as ComponentType;
        failed.delete(preload);
      },
      (reason: unknown) => {
        error = reason;
        failed.add(preload);
      },
    ));
  };
  const Page = () => {
    if (loaded) return createElement(loaded);
    if (error !== undefined) throw error;
    use(preload());
    // What was waited for has failed.
    throw error;
  };
  Page.preload = preload;
  return Page;
}

/** Loads the pages that could not be loaded before. */
export async function retryPages(): Promise<void> {
  await Promise.all([...failed].map((load) => load()));
}

/** Loads pages one after the other, so that they are there when the hub is not. */
export async function loadAhead(pages: readonly Page[]): Promise<void> {
  for (const page of pages) await page.preload();
}
