// Build configuration: stable names, and no dates or machine details in the output, so that every build is identical.
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [svelte()],
  // Files refer to each other by relative paths, because the server adds the build's name to their addresses.
  base: "./",
  build: {
    target: "es2023",
    // Scripts and styles come from our own server, so preload helpers are not needed.
    modulePreload: false,
    assetsInlineLimit: 0,
    rollupOptions: {
      output: {
        entryFileNames: "assets/[name].js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/[name][extname]",
        // Code that every view needs is one file, so that chunks do not wait for each other. Texts of one view, and
        // parts used by few views, stay with their view.
        codeSplitting: { groups: [{ name: "base", test: /node_modules|src\/((api|state|parts(?!\/later\/)|texts(?!\/en-)|style)\/|views\/card\/(payload|diff\/sequence)\.ts)/ }] },
      },
    },
  },
});
