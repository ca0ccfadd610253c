import { fileURLToPath } from "node:url";

import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const hub = process.env.STOA_URL ?? "http://127.0.0.1:8080";

const own = (path: string) => fileURLToPath(new URL(`src/${path}`, import.meta.url));

export default defineConfig({
  plugins: [react(), tailwind()],
  resolve: {
    // Of these, markdown-it needs little and would bring much.
    alias: { entities: own("messages/small/entities.ts"), "punycode.js": own("messages/small/punycode.ts") },
  },
  build: {
    // By it, `npm run sizes` knows what is loaded when.
    manifest: true,
    target: "es2023",
    // Nothing inline: the policy of the page allows no script or style that is not a file.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // All that the first page needs is one file: it compresses better than twenty that pages share, and is one request.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: "first", tags: ["$initial"] }] } } },
    chunkSizeWarningLimit: 600,
  },
  server: {
    proxy: Object.fromEntries(
      ["/api", "/auth", "/oauth", "/mcp", "/login", "/healthz", "/readyz", "/.well-known"].map((path) => [path, hub]),
    ),
  },
  test: {
    environment: "jsdom",
    include: ["src/**/*.test.{ts,tsx}"],
    // With what stands in for its libraries, as in the page.
    server: { deps: { inline: ["markdown-it"] } },
  },
});
