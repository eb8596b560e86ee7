// Loads a module of the app, compiled to JavaScript with its imports, for tests without a page.
import { join } from "node:path";
import { build } from "vite";

const SOURCES = join(import.meta.dirname, "../../src");

/** @param {string} path below `ui/src` */
export async function load(path) {
  const built = await build({
    configFile: false,
    logLevel: "warn",
    build: { ssr: true, write: false, minify: false, rollupOptions: { input: join(SOURCES, path) } },
  });
  const { code } = /** @type {{output: {code: string}[]}} */ (built).output[0];
  return import(`data:text/javascript;base64,${Buffer.from(code).toString("base64")}`);
}
