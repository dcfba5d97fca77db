import { defineConfig } from "vite";

// `CAPSIEVE=http://127.0.0.1:PORT vite` serves the page against a running server.
const server = process.env["CAPSIEVE"];

export default defineConfig({
  base: "./",
  server: {
    host: "127.0.0.1",
    port: 5199,
    strictPort: true,
    proxy: server === undefined ? {} : { "/api": { target: server, changeOrigin: true } },
  },
  build: {
    outDir: "../src/capsieve/review/static",
    emptyOutDir: true,
    // The content security policy knows no data: fonts and no inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    reportCompressedSize: false,
  },
});
