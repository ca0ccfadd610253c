// Prints what the sources of the page come to: the same for the same sources.

import { createHash } from "node:crypto";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const SOURCES = ["index.html", "openapi.json", "package-lock.json", "public", "scripts", "src", "tsconfig.json", "vite.config.ts", "../docs/examples"];
/** Made from the others. */
const MADE = "src/api/schema.d.ts";

function* files(path) {
  if (!statSync(join(root, path)).isDirectory()) {
    yield path;
    return;
  }
  for (const name of readdirSync(join(root, path)).sort()) {
    yield* files(`${path}/${name}`);
  }
}

export function buildId() {
  const hash = createHash("sha256");
  for (const path of SOURCES.flatMap((source) => [...files(source)]).filter((path) => path !== MADE)) {
    hash.update(path).update("\0").update(readFileSync(join(root, path)));
  }
  return hash.digest("hex").slice(0, 16);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(buildId());
}
