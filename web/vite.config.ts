// SPDX-License-Identifier: Apache-2.0
import { defineConfig } from "vitest/config";

export default defineConfig({
  // Relative, so that the page works under whatever path a proxy gives it.
  base: "./",
  esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
  build: {
    target: "es2022",
    outDir: "dist",
    assetsDir: "assets",
    // No inlining: the Content-Security-Policy lets nothing in but files of this server.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
  server: { proxy: { "/v1": "http://127.0.0.1:3009", "/health": "http://127.0.0.1:3009" } },
  test: { include: ["tests/**/*.test.ts"], environment: "node" },
});
