// SIGKILL at each step of an agent. Started again with the same keys, it hears the decision, and works at most once.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { TestServer } from "./server.js";

const AGENT = fileURLToPath(new URL("killed-agent.js", import.meta.url));

const server = new TestServer();
before(() => server.start());
after(() => server.end());

/** Runs the agent. Returns its last line, and true if it was killed. */
async function agent(...args: string[]): Promise<{ line: string; killed: boolean }> {
  const env = { ...process.env, HOLDSHORT_URL: server.url, HOLDSHORT_AGENT_TOKEN: server.agent };
  const child = spawn(process.execPath, [AGENT, ...args], { env, stdio: ["ignore", "pipe", "inherit"] });
  let out = "";
  child.stdout.on("data", (bytes) => {
    out += bytes;
  });
  // Decides as soon as the question is open, also if nobody waits for it any more.
  const [key = ""] = args.slice(1);
  const stop = decideWhenOpen(key, args[0] === "ask" ? { option: "answer", text: "yes" } : { option: "approve" });
  const [code, signal] = await once(child, "exit");
  await stop();
  assert(signal === "SIGKILL" || code === 0, `${code} ${signal}`);
  return { line: out.trim().split("\n").at(-1) ?? "", killed: signal === "SIGKILL" };
}

/** Decides on the request with this title as soon as it is open. */
function decideWhenOpen(title: string, decision: object): () => Promise<void> {
  let running = true;
  const loop = (async () => {
    while (running) {
      const open = (await server.titled(title)).find((each) => each.status === "open");
      if (open) return void (await server.decide(open.id, decision));
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  })();
  return async () => {
    running = false;
    await loop;
  };
}

/** Kills a new agent at each step, and starts it again. Returns the steps. */
async function killAtEachStep(kind: string, check: (step: string, file: string, again: string) => void): Promise<string[]> {
  const { line } = await agent(kind, `${kind} without a kill`, "0", join(server.folder, kind));
  const steps = Number(line.split(": ").at(-1));
  return Promise.all(
    Array.from({ length: steps }, async (_, i) => {
      const key = `${kind} ${i + 1}`;
      const file = join(server.folder, key);
      const first = await agent(kind, key, `${i + 1}`, file);
      assert(first.killed, key);
      const again = await agent(kind, key, "0", file);
      assert(!again.killed, key);
      check(first.line, file, again.line.replace(/: [0-9]+$/, ""));
      const asked = await server.titled(key);
      assert.deepEqual([asked.length, asked[0].status], [1, "resolved"], `killed at ${first.line}`);
      return first.line;
    }),
  );
}

test("a question is asked once, and its answer heard after each kill", async () => {
  const steps = await killAtEachStep("ask", (step, _, again) => assert.equal(again, "yes", step));
  assert.deepEqual(steps, [
    "before GET /v1/agent/decisions",
    "after GET /v1/agent/decisions",
    "before POST /v1/interrupts",
    "after POST /v1/interrupts",
    "holdshort",
    "heard",
  ]);
});

test("approved work runs at most once, whenever the process is killed", async () => {
  const mayHaveRun = ["after POST /v1/interrupts/{id}/consume", "before the work", "after the work", "heard"];
  const steps = await killAtEachStep("approve", (step, file, again) => {
    const runs = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
    if (mayHaveRun.includes(step)) {
      assert.equal(again, "used before", step);
      assert.equal(runs.length, step === "after the work" || step === "heard" ? 1 : 0, step);
    } else {
      assert.equal(again, "ran 7", step);
      assert.deepEqual(runs, ["ran 7"], step);
    }
  });
  assert.deepEqual(steps, [
    "before GET /v1/agent/decisions",
    "after GET /v1/agent/decisions",
    "before POST /v1/interrupts",
    "after POST /v1/interrupts",
    "holdshort",
    "before POST /v1/interrupts/{id}/consume",
    "after POST /v1/interrupts/{id}/consume",
    "before the work",
    "after the work",
    "heard",
  ]);
});
