// SIGKILL at each step of an agent of the AI SDK. Started again with its saved messages, it works at most once.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Json, TestServer } from "../../server.js";

const AGENT = fileURLToPath(new URL("killed-agent.js", import.meta.url));

const server = new TestServer();
before(() => server.start());
after(() => server.end());

/** Decides on the request about the order if it is open. Returns all requests about the order. */
async function decide(order: number): Promise<{ id: string; status: string; approval?: { used?: object } }[]> {
  const { items } = await server.api("GET", "/v1/interrupts?limit=200");
  const own = items.filter((each: Json) => each.payload.arguments.order === order);
  if (own[0]?.status === "open") await server.decide(own[0].id, { option: "approve" });
  return own;
}

/** Runs the agent, and decides once its messages are saved, or once it has ended. Returns its steps. */
async function agent(order: number, fatal: string): Promise<{ steps: string[]; killed: boolean }> {
  const env = { ...process.env, HOLDSHORT_URL: server.url, HOLDSHORT_AGENT_TOKEN: server.agent };
  const folder = join(server.folder, `${order}`);
  mkdirSync(folder, { recursive: true });
  const args = [AGENT, `${order}`, folder, fatal];
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "ignore"] });
  const exit = once(child, "exit");
  const steps: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    steps.push(line);
    if (line === "after the save 1") await decide(order);
  }
  const [code, signal] = await exit;
  assert(signal === "SIGKILL" || code === 0, `${code} ${signal}`);
  await decide(order);
  return { steps, killed: signal === "SIGKILL" };
}

test("a refund runs at most once, whenever the process is killed", { timeout: 180_000 }, async () => {
  const { steps } = await agent(0, "");
  for (const step of [
    "before the save 1",
    "before /v1/interrupts/{id}/consume 1",
    "after the work 1",
    "after the save 2",
  ]) {
    assert(steps.includes(step), step);
  }
  for (const [i, step] of steps.entries()) {
    const order = i + 1;
    const folder = join(server.folder, `${order}`);
    await agent(order, step);
    const used = (await decide(order))[0]?.approval?.used !== undefined;
    assert.equal((await agent(order, "")).killed, false, step);
    const runs = existsSync(join(folder, "ran"))
      ? readFileSync(join(folder, "ran"), "utf8").trim().split("\n").length
      : 0;
    const [request, ...others] = await decide(order);
    assert(request?.approval?.used, step);
    assert.deepEqual(others, [], step);
    if (used) assert(runs <= 1, step);
    else assert.equal(runs, 1, step);
    const said = readFileSync(join(folder, "messages.json"), "utf8");
    // The model reads the result, or that the work may be done.
    assert.match(said, runs === 1 && !used ? /"refunded":500/ : /"refunded":500|the work may be done/, step);
  }
});
