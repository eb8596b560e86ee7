// A person at the terminal: decisions through the command line, beside the browser.
import assert from "node:assert/strict";
import { run } from "./program.js";

/**
 * `holdshort decide`; returns what it says.
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
 * `holdshort show`; returns what it says.
 * @param {import("./server.js").Server} server
 * @param {string} id of an interrupt or a run
 */
export async function showInTerminal(server, id) {
  const { code, stdout, stderr } = await run(server.folder, ["show", id, "--data", server.data]);
  assert.equal(code, 0, stderr);
  return stdout;
}
