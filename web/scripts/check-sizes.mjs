// What a browser has to load of web/dist, compressed with gzip, and whether that is within the budget:
//
//   node scripts/check-sizes.mjs      after `npm run build`
//
// The first load is the script of the page and the one that shows conversations, with all that they import.
// Whatever is loaded later, for a page or for a part of one, is measured with all that comes along with it.

import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const FIRST_LIMIT = 190;
const STYLE_LIMIT = 15;
const LATER_LIMIT = 60;
/** As vite.config.ts calls what shows messages. */
const CONVERSATION = "conversation";

const dist = fileURLToPath(new URL("../dist/", import.meta.url));
const file = join(dist, ".vite/manifest.json");
if (!existsSync(file)) {
  console.error("check-sizes: there is no web/dist with a manifest; build it with: scripts/build-web");
  process.exit(2);
}
const manifest = JSON.parse(readFileSync(file, "utf8"));

const sizes = new Map();
/** A file in kB, as it goes over the wire at worst. */
function size(path) {
  if (!sizes.has(path)) sizes.set(path, gzipSync(readFileSync(join(dist, path)), { level: 9 }).length / 1000);
  return sizes.get(path);
}

const sum = (paths) => [...paths].reduce((total, path) => total + size(path), 0);

/** All chunks that come with one. */
function withImports(key, known = new Set()) {
  if (known.has(key) || !manifest[key]) return known;
  known.add(key);
  for (const other of manifest[key].imports ?? []) withImports(other, known);
  return known;
}

const entry = Object.keys(manifest).find((key) => manifest[key].isEntry);
const conversation = Object.keys(manifest).find((key) => manifest[key].name === CONVERSATION);
const first = withImports(conversation, withImports(entry));
const scripts = (keys) => new Set([...keys].map((key) => manifest[key].file).filter((path) => path.endsWith(".js")));
const styles = (keys) => new Set([...keys].flatMap((key) => manifest[key].css ?? []));
const firstScripts = scripts(first);

const rows = [
  { what: "first load of a channel, scripts", is: sum(firstScripts), limit: FIRST_LIMIT },
  { what: "all styles", is: sum(styles(Object.keys(manifest))), limit: STYLE_LIMIT },
];
const later = Object.keys(manifest)
  .filter((key) => manifest[key].isDynamicEntry && !first.has(key))
  .map((key) => {
    const more = [...scripts(withImports(key))].filter((path) => !firstScripts.has(path));
    return { what: `later: ${basename(manifest[key].src ?? key).replace(/\.\w+$/, "")}`, is: sum(more), limit: LATER_LIMIT };
  })
  .sort((one, other) => other.is - one.is);
rows.push(...later);

const width = Math.max(...rows.map(({ what }) => what.length));
console.log(`${"".padEnd(width)}  kB gzip  limit`);
for (const { what, is, limit } of rows) {
  console.log(`${what.padEnd(width)}  ${is.toFixed(1).padStart(7)}  ${String(limit).padStart(5)}${is > limit ? "  TOO MUCH" : ""}`);
}
if (rows.some(({ is, limit }) => is > limit)) {
  console.error("check-sizes: the page is heavier than it may be (above).");
  process.exit(1);
}
