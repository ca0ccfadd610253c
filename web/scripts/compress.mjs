// Writes each file of web/dist as brotli and gzip, too, where that makes it smaller, and notes of which sources it was built.

import { createHash } from "node:crypto";
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const SMALL = 1024;

function* files(folder) {
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) {
      yield* files(path);
    } else {
      yield path;
    }
  }
}

for (const path of [...files(dist)]) {
  const bytes = readFileSync(path);
  if (bytes.length < SMALL) continue;
  const brotli = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
  const gzip = gzipSync(bytes, { level: 9 });
  if (brotli.length < bytes.length) writeFileSync(`${path}.br`, brotli);
  if (gzip.length < bytes.length) writeFileSync(`${path}.gz`, gzip);
}

const hash = createHash("sha256");
const sources = ["index.html", "package-lock.json", "openapi.json", "vite.config.ts", ...[...files(join(root, "src")), ...files(join(root, "public"))].map((path) => relative(root, path))];
for (const source of sources.filter((source) => !source.endsWith("schema.d.ts"))) {
  hash.update(source).update("\0").update(readFileSync(join(root, source)));
}
writeFileSync(join(dist, "build-id.txt"), `${hash.digest("hex").slice(0, 16)}\n`);
