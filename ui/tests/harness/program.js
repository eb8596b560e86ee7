// The program under test: where it is, what it sees of this machine, and one run of it to its end.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "../../..");

/** What `cargo build -p holdshort` made. */
export const PROGRAM =
  process.env.HOLDSHORT_BIN ?? join(process.env.CARGO_TARGET_DIR ?? join(ROOT, "target"), "debug/holdshort");

/** Settings of whoever runs the tests that must not reach the program: keys, models, proxies. */
const FOREIGN = /^(OPENAI_|ANTHROPIC_|GEMINI_|GOOGLE_|HOLDSHORT_|HTTP|http|ALL_|all_)/;

/**
 * A home of its own; what a killed process leaves behind goes with the folder.
 * @param {string} folder with `home` and `tmp` in it
 */
export function environment(folder) {
  const own = Object.entries(process.env).filter(([name]) => !FOREIGN.test(name));
  const env = { ...Object.fromEntries(own), HOME: join(folder, "home"), TMPDIR: join(folder, "tmp") };
  // Shims of version managers take longer than the suite of the sample.
  return existsSync("/usr/bin/python3") ? { ...env, PATH: "/usr/local/bin:/usr/bin:/bin" } : env;
}

/**
 * Runs to the end, without a terminal.
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
