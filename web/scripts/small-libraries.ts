import { fileURLToPath } from "node:url";

import type { Plugin } from "vite";

const own = (path: string) => fileURLToPath(new URL(`../src/${path}`, import.meta.url));

/** Modules of libraries, by who imports them, and what the page has in their place. */
const REPLACED = [
  // An icon is a few shapes: the page draws them itself.
  { source: "../createLucideIcon.mjs", importer: "/lucide-react/", by: "lib/small/icon.ts" },
  // Lists scroll within the page, and each knows its own place.
  { source: "./scroll-restoration.js", importer: "/router-core/", by: "lib/small/scrollRestoration.ts" },
];

/** Parts of libraries that the page switches off, as they stand in the source. What nothing names is left out of the bundle. */
const LEFT_OUT: ReadonlyArray<{ file: string; parts: RegExp[]; isVaried?: boolean }> = [
  {
    file: "/markdown-it/dist/markdown-it.mjs",
    parts: [
      /^\t\["replacements", replace\],$/m,
      /^\t\["smartquotes", smartquotes\],$/m,
      /^\t\["html_inline", html_inline\],$/m,
      /^\t\[\n\t\t"html_block",\n[^\]]*\]\n\t\],$/m,
      /^\tzero: \{\n[\s\S]*?^\t\},$/m,
      /^\tcommonmark: \{\n[\s\S]*?^\t\}$/m,
    ],
  },
  // Names and keys of icons and their shapes: `lib/small/icon.ts` needs none.
  { file: "/lucide-react/dist/esm/icons/", isVaried: true, parts: [/^ {2}name: .*$/m, /^ {2}size: 24,$/m, /^ {2}aliases: .*$/m, /,\s*key: "\w+"/g, /^__iconData\.node;$/m] },
];

/** Takes out of libraries what the page does not use and a bundler cannot know. A library that has changed stops the build. */
export const smallLibraries: Plugin = {
  name: "small-libraries",
  enforce: "pre",
  resolveId: (source, importer) => {
    const found = REPLACED.find((one) => one.source === source && importer?.includes(one.importer));
    return found ? own(found.by) : null;
  },
  transform(code, id) {
    const found = LEFT_OUT.find(({ file }) => id.includes(file));
    if (!found) return null;
    let rest = code;
    for (const part of found.parts) {
      const without = rest.replace(part, "");
      if (without === rest && !found.isVaried) this.error(`${id} no longer has ${part}. Look at scripts/small-libraries.ts.`);
      rest = without;
    }
    return { code: rest, map: null };
  },
};
