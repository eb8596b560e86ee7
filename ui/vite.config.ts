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
        // Few files, so that a view needs few requests. `base`: the inbox, and code that every view needs. `later`: dialogs, and the
        // freeze in the header. `card`: a card without editor and trial. Other chunks belong to one view.
        codeSplitting: {
          groups: [
            { name: "base", test: /node_modules|src\/((api|state|parts(?!\/later\/)|texts(?!\/en-)|style)\/|views\/((Signed|Inbox|InboxItem|Opened|Connection|Soonest|Due|[Ll]ater)\.(ts|svelte)|card\/(payload|read|diff\/sequence|expiry|folds\.svelte)\.ts|card\/Title\.svelte))/ },
            { name: "later", test: /src\/(parts\/later\/|views\/system\/(Halt|FreezeForm|LiftForm)\.svelte|texts\/en-(people|system)\.ts)/ },
            { name: "card", test: /src\/(views\/(card\/(?!edit\/|subject\/trial\/|diff\/SideBySide)|texts\.ts|system\/Held\.svelte)|texts\/en-(card|voice|app|grants)\.ts)/ },
          ],
        },
      },
    },
  },
});
