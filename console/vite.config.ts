import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// `npm run dev` serves the console by itself and asks a server that runs beside it.
const server = process.env.SCOREWRIGHT_SERVER ?? "http://127.0.0.1:8321";

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "dist",
    emptyOutDir: true,
    manifest: "manifest.json",
    // A file inside a data: address would need a hole in the page's policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
  },
  server: {
    proxy: Object.fromEntries(["/api", "/v1", "/login"].map((path) => [path, { target: server }])),
  },
  test: {
    environment: "happy-dom",
    setupFiles: ["src/test-setup.ts"],
  },
});
