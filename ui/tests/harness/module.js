// A module of the app, for tests of what it says without a page: made into JavaScript, with all that it imports.
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
