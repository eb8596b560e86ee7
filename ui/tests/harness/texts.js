// The texts of the app by key. Tests read them from the app's own files.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { words } from "./card-words.js";

const folder = join(import.meta.dirname, "../../src/texts");
/** Reads a text file of the app. It contains only literals, so it is valid JavaScript. */
const read = (file) => import(`data:text/javascript;base64,${readFileSync(join(folder, file)).toString("base64")}`);
/** @type {Record<string, string>} */
const en = { ...words };
for (const file of readdirSync(folder)) {
  if (file.startsWith("en")) Object.assign(en, ...Object.values(await read(file)));
}

/**
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 */
export function t(key, values = {}) {
  if (!(key in en)) throw new Error(`no text is called ${key}`);
  return en[key].replaceAll(/\{(\w+)\}/g, (whole, name) => (name in values ? `${values[name]}` : whole));
}
