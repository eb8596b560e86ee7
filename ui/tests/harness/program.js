// The program under test: its path, its environment, and one run of it to the end.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "../../..");

/** Output of `cargo build -p holdshort`. */
export const PROGRAM =
  process.env.HOLDSHORT_BIN ?? join(process.env.CARGO_TARGET_DIR ?? join(ROOT, "target"), "debug/holdshort");

/** Environment variables of the person who runs the tests. They must not reach the program: keys, models, proxies. */
const FOREIGN = /^(OPENAI_|ANTHROPIC_|GEMINI_|GOOGLE_|HOLDSHORT_|HTTP|http|ALL_|all_)/;

/**
 * Returns an environment with its own home directory. Files of a killed process are deleted with the folder.
 * @param {string} folder with `home` and `tmp` in it
 */
export function environment(folder) {
  const own = Object.entries(process.env).filter(([name]) => !FOREIGN.test(name));
  const env = { ...Object.fromEntries(own), HOME: join(folder, "home"), TMPDIR: join(folder, "tmp") };
  // Shims of version managers would take longer than the sample's test suite.
  return existsSync("/usr/bin/python3") ? { ...env, PATH: "/usr/local/bin:/usr/bin:/bin" } : env;
}

/**
 * Runs the program to its end, without a terminal.
 * @param {string} folder
 * @param {string[]} args
 * @returns {Promise<{code: number, stdout: string, stderr: string}>}
 */
export function run(folder, args) {
  return new Promise((resolve) => {
    const child = execFile(PROGRAM, args, { cwd: folder, env: environment(folder) }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : error ? -1 : 0, stdout, stderr });
    });
    child.stdin?.end();
  });
}
