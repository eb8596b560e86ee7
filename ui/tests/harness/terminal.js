// A person at the terminal, who decides through the command line next to the browser.
import assert from "node:assert/strict";
import { run } from "./program.js";

/**
 * Runs `holdshort decide`. Returns its output.
 * @param {import("./server.js").Server} server
 * @param {string} interrupt
 * @param {string} option
 * @param {string} [text]
 */
export async function decideInTerminal(server, interrupt, option, text) {
  const words = text === undefined ? [] : ["--text", text];
  const args = ["decide", interrupt, option, ...words, "--data", server.data];
  const { code, stdout, stderr } = await run(server.folder, args);
  assert.equal(code, 0, stderr);
  return stdout;
}

/**
 * Runs `holdshort show`. Returns its output.
 * @param {import("./server.js").Server} server
 * @param {string} id of an interrupt or a run
 */
export async function showInTerminal(server, id) {
  const { code, stdout, stderr } = await run(server.folder, ["show", id, "--data", server.data]);
  assert.equal(code, 0, stderr);
  return stdout;
}
