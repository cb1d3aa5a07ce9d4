// Bundles the page into ../node_modules/.page, from where a test server hands it to the browser; not minified, so that the
// errors that tests print name Neuroglancer's own functions.
import { defineConfig } from "vite";

export default defineConfig({
  base: "",
  worker: { format: "es" },
  build: {
    target: "es2022",
    minify: false,
    outDir: "../node_modules/.page",
    emptyOutDir: true,
    chunkSizeWarningLimit: 8192,
  },
});
