// The texts of the app by key. Tests read them from the app's own files.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const folder = join(import.meta.dirname, "../../src/texts");
/** Reads a text file of the app. It contains only literals, so it is valid JavaScript. */
const read = (file) => import(`data:text/javascript;base64,${readFileSync(join(folder, file)).toString("base64")}`);
/** @type {Record<string, string>} */
const en = { ...(await read("en.ts")).en, ...(await read("en-later.ts")).later, ...(await read("en-people.ts")).people, ...(await read("en-plan.ts")).plan, ...(await read("en-system.ts")).system, ...(await read("en-trial.ts")).trial, ...(await read("en-session.ts")).session, ...(await read("en-voice.ts")).voice, ...(await read("en-earlier.ts")).earlier };

/**
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 */
export function t(key, values = {}) {
  if (!(key in en)) throw new Error(`no text is called ${key}`);
  return en[key].replaceAll(/\{(\w+)\}/g, (whole, name) => (name in values ? `${values[name]}` : whole));
}
