// The shipped demo: `holdshort demo` starts its run, and `holdshort serve` continues it.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "./eventually.js";
import { run } from "./program.js";
import { Server } from "./server.js";

/** Exit code of a command that leaves a run waiting. */
const LEFT_WAITING = 4;

/**
 * Starts a server with the demo's run, which waits at its first question.
 * @param {import("node:test").TestContext} t
 */
export async function serveDemo(t) {
  const server = new Server(t);
  const { code, stdout, stderr } = await run(server.folder, ["demo", "--json", "--data", server.data]);
  assert.equal(code, LEFT_WAITING, stderr);
  await server.start();
  const temporary = join(server.folder, "tmp");
  const folder = readdirSync(temporary).find((name) => name.startsWith("holdshort-demo-"));
  assert(folder, "the demo has no repository");
  return {
    server,
    /** @type {string} */
    id: JSON.parse(stdout.slice(0, stdout.indexOf("\n"))).run,
    repository: join(temporary, folder, "boxrent"),
  };
}

/**
 * Returns the next open interrupt of a run; undefined if the run has ended.
 * @param {Server} server
 * @param {string} id
 */
export async function holdsShort(server, id) {
  const seen = await eventually(`${id} to hold short or to end`, async () => {
    const { status, open_interrupts: open } = await server.api("GET", `/v1/runs/${id}`);
    return (open.length > 0 || ["completed", "failed", "cancelled"].includes(status)) && { open };
  });
  return seen.open.length > 0 ? server.api("GET", `/v1/interrupts/${seen.open[0]}`) : undefined;
}
