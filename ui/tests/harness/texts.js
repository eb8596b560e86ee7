// What the app says, by key: tests read the words from where the app does.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const source = readFileSync(join(import.meta.dirname, "../../src/texts/en.ts"));
/** @type {{en: Record<string, string>}} */
const { en } = await import(`data:text/javascript;base64,${source.toString("base64")}`);

/**
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 */
export function t(key, values = {}) {
  if (!(key in en)) throw new Error(`no text is called ${key}`);
  return en[key].replaceAll(/\{(\w+)\}/g, (whole, name) => (name in values ? `${values[name]}` : whole));
}
