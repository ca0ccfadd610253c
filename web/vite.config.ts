import { fileURLToPath } from "node:url";

import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

import { smallLibraries } from "./scripts/small-libraries.ts";

const hub = process.env.STOA_URL ?? "http://127.0.0.1:8080";

const own = (path: string) => fileURLToPath(new URL(`src/${path}`, import.meta.url));

const CONVERSATION = "conversation";

/** Most come to see a conversation: what shows it is fetched along with the page. */
const readyAtOnce: Plugin = {
  name: "ready-at-once",
  // Chromium compiles all of such a file beside the page, instead of each function when it is called. Of what every page needs, too
  // little is called at once for that to be faster.
  generateBundle: {
    order: "post",
    handler(_options, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type === "chunk" && file.name === CONVERSATION) file.code = `//# allFunctionsCalledOnLoad\n${file.code}`;
      }
    },
  },
  transformIndexHtml: {
    order: "post",
    handler: (_html, { bundle }) =>
      Object.values(bundle ?? {})
        .filter((file) => file.type === "chunk" && file.name === CONVERSATION)
        .map(({ fileName }) => ({ tag: "link", attrs: { rel: "modulepreload", crossorigin: true, href: `/${fileName}` }, injectTo: "head" })),
  },
};

export default defineConfig({
  plugins: [react(), tailwind(), smallLibraries, readyAtOnce],
  resolve: {
    // Of these, the page and its libraries need little and would bring much.
    alias: {
      "use-sync-external-store/shim/with-selector": own("lib/small/selector.ts"),
      entities: own("messages/small/entities.ts"),
      "punycode.js": own("messages/small/punycode.ts"),
      "uc.micro": own("messages/small/unicode.ts"),
    },
  },
  build: {
    // By it, `npm run sizes` knows what is loaded when.
    manifest: true,
    target: "es2023",
    // Nothing inline: the policy of the page allows no script or style that is not a file.
    assetsInlineLimit: 0,
    // Which files a part of the page imports is a long list in every first load. Only of the page that most begin with, the browser knows
    // it ahead: parts are loaded before somebody wants them.
    modulePreload: { polyfill: false, resolveDependencies: (file, imports) => (file.includes("InboxPage") ? imports : []) },
    rolldownOptions: {
      output: {
        // What every page needs is one file, and what shows messages another: they compress better than twenty that pages share, and a
        // browser compiles the one while it runs the other.
        codeSplitting: {
          groups: [
            { name: "first", tags: ["$initial"], priority: 2 },
            { name: CONVERSATION, test: /src\/pages\/conversation\.ts$/, priority: 1 },
          ],
        },
      },
    },
    chunkSizeWarningLimit: 600,
  },
  server: {
    // The page shows the examples of the documentation, and a test reads the other texts.
    fs: { allow: [".", "../docs", "../templates", "../tests/words"] },
    proxy: Object.fromEntries(
      ["/api", "/auth", "/oauth", "/mcp", "/login", "/join", "/healthz", "/readyz", "/.well-known"].map((path) => [path, hub]),
    ),
  },
  test: {
    environment: "jsdom",
    // A busy machine takes its time; what hangs ends all the same.
    testTimeout: 60_000,
    // A window for each file takes eight times as long; tests put back what they change in it.
    isolate: false,
    include: ["src/**/*.test.{ts,tsx}"],
    // With what stands in for its libraries, as in the page.
    server: { deps: { inline: ["markdown-it", "linkify-it"] } },
  },
});
