// SIGKILL at each step of an agent. Started again with the same keys, it hears the decision, and works at most once.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { TestServer } from "./server.js";

const AGENT = fileURLToPath(new URL("killed-agent.js", import.meta.url));

const server = new TestServer();
before(() => server.start());
after(() => server.end());

const WAITS = "holdshort: waiting for a decision";

/**
 * Runs the agent, and decides once it waits, or once it has ended. Returns its last line, and true if it was killed.
 */
async function agent(
  kind: string,
  key: string,
  fatal: string,
  file: string,
): Promise<{ line: string; killed: boolean }> {
  const env = { ...process.env, HOLDSHORT_URL: server.url, HOLDSHORT_AGENT_TOKEN: server.agent };
  const child = spawn(process.execPath, [AGENT, kind, key, fatal, file], { env, stdio: ["ignore", "pipe", "inherit"] });
  const exit = once(child, "exit");
  let line = "";
  for await (line of createInterface(child.stdout)) if (line === WAITS) await decide(kind, key);
  const [code, signal] = await exit;
  assert(signal === "SIGKILL" || code === 0, `${code} ${signal}`);
  await decide(kind, key);
  return { line, killed: signal === "SIGKILL" };
}

/** Decides on the agent's request if it is open. */
async function decide(kind: string, key: string): Promise<void> {
  const [request] = await server.titled(key);
  if (request?.status !== "open") return;
  await server.decide(request.id, kind === "ask" ? { option: "answer", text: "yes" } : { option: "approve" });
}

/** Kills an agent at each of the steps, and starts it again. Returns what the second agent says, and the runs. */
async function killAt(kind: string, steps: readonly string[]): Promise<[step: string, says: string, runs: number][]> {
  return Promise.all(
    steps.map(async (step, i) => {
      const key = `${kind} ${i}`;
      const file = join(server.folder, key);
      const first = await agent(kind, key, step, file);
      assert.deepEqual(first, { line: step, killed: true });
      const again = await agent(kind, key, "", file);
      const asked = await server.titled(key);
      assert.deepEqual([again.killed, asked.length, asked[0].status], [false, 1, "resolved"], step);
      return [step, again.line, existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").length : 0] satisfies [
        string,
        string,
        number,
      ];
    }),
  );
}

test("a question is asked once, and its answer heard after each kill", async () => {
  const steps = [
    "before GET /v1/agent/decisions",
    "after GET /v1/agent/decisions",
    "before POST /v1/interrupts",
    "after POST /v1/interrupts",
    WAITS,
    "heard",
  ];
  assert.deepEqual(
    await killAt("ask", steps),
    steps.map((step) => [step, "yes", 0]),
  );
});

test("approved work runs at most once, whenever the process is killed", async () => {
  const rows: [step: string, says: string, runs: number][] = [
    ["before GET /v1/agent/decisions", "ran 7", 1],
    ["after GET /v1/agent/decisions", "ran 7", 1],
    ["before POST /v1/interrupts", "ran 7", 1],
    ["after POST /v1/interrupts", "ran 7", 1],
    [WAITS, "ran 7", 1],
    ["before POST /v1/interrupts/{id}/consume", "ran 7", 1],
    ["after POST /v1/interrupts/{id}/consume", "used before", 0],
    ["before the work", "used before", 0],
    ["after the work", "used before", 1],
    ["heard", "used before", 1],
  ];
  assert.deepEqual(
    await killAt(
      "approve",
      rows.map(([step]) => step),
    ),
    rows,
  );
});
