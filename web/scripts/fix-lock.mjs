// Completes web/package-lock.json after `npm install`: npm writes down only the platforms that its registry shows it, and then
// `npm ci` refuses the file elsewhere. Adds an entry for each platform's package that another one names as optional.
//
//   node scripts/fix-lock.mjs

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const file = fileURLToPath(new URL("../package-lock.json", import.meta.url));
const lock = JSON.parse(readFileSync(file, "utf8"));
const SYSTEMS = ["darwin", "linux", "win32", "freebsd", "android", "openharmony"];
const PROCESSORS = ["arm64", "x64", "ia32", "ppc64", "s390x", "riscv64", "wasm32", "arm"];

/** Whether a package is there for one that lies in `folder`, or in a folder around it. */
function isThere(folder, name) {
  for (let at = folder; ; at = at.slice(0, Math.max(0, at.lastIndexOf("/node_modules/")))) {
    if (lock.packages[`${at ? `${at}/` : ""}node_modules/${name}`]) return true;
    if (!at.includes("/node_modules/")) return Boolean(lock.packages[`node_modules/${name}`]);
  }
}

let added = 0;
for (const [folder, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (isThere(folder, name)) continue;
    const system = SYSTEMS.find((known) => name.includes(known));
    const processor = PROCESSORS.find((known) => name.includes(known));
    if (!system && processor !== "wasm32") continue;
    lock.packages[`node_modules/${name}`] = {
      version: version.replace(/^[^0-9]*/, ""),
      ...(processor && { cpu: [processor] }),
      ...(entry.dev && { dev: true }),
      ...(name.endsWith("musl") && { libc: ["musl"] }),
      ...(name.endsWith("gnu") && { libc: ["glibc"] }),
      optional: true,
      ...(system && { os: [system] }),
    };
    added += 1;
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([one], [other]) => (one < other ? -1 : 1)));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} packages of other platforms were added.`);
