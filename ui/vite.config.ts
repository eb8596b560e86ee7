// How the app is built: plain names, no dates and no machine in the output, so that a build is the same everywhere.
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [svelte()],
  // Files name each other by their place beside one another: the server gives them out under the name of their build.
  base: "./",
  build: {
    target: "es2023",
    // Scripts and styles come from our own server, on the same machine or behind one name: no preload helpers.
    modulePreload: false,
    assetsInlineLimit: 0,
    rollupOptions: {
      output: {
        entryFileNames: "assets/[name].js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/[name][extname]",
        // What every place needs is one file, below the places: no two chunks wait for each other. Words of one place
        // go with it, and so do parts of a few.
        codeSplitting: { groups: [{ name: "base", test: /node_modules|src\/((api|state|parts(?!\/later\/)|texts(?!\/en-)|style)\/|views\/card\/(payload|diff\/sequence)\.ts)/ }] },
      },
    },
  },
});
