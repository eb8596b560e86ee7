// DBOS Transact for TypeScript, on a PostgreSQL that run.py starts.
//
// DBOS is a library without a server for decisions. Asking and deciding are calls in this process, without HTTP, which
// makes them faster. A cycle: `startWorkflow` stores the workflow, which waits in `DBOS.recv`. `DBOS.send` stores the
// decision. Then `getResult` of the handle returns.
//
// packages (npm): @dbos-inc/dbos-sdk@5.3.0
// needs: postgres

import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { DBOS } from "@dbos-inc/dbos-sdk";

import { PAYLOAD, measure } from "./measure.mjs";

const WAIT_SECONDS = 60;

const ask = DBOS.registerWorkflow(async (_payload) => await DBOS.recv("decision", WAIT_SECONDS), { name: "ask" });

async function cycle() {
  const workflowID = randomUUID();
  const asked = await DBOS.startWorkflow(ask, { workflowID })(PAYLOAD);
  const sent = performance.now();
  await DBOS.send(workflowID, "approve", "decision");
  const decision = await asked.getResult();
  if (decision !== "approve") throw new Error(`the decision was ${decision}`);
  return performance.now() - sent;
}

DBOS.setConfig({ name: "bench", systemDatabaseUrl: process.env.POSTGRES_URL, logLevel: "error", runAdminServer: false });
await DBOS.launch();
const { version } = JSON.parse(readFileSync("node_modules/@dbos-inc/dbos-sdk/package.json"));
await measure(cycle, {
  name: "DBOS",
  version: `dbos-sdk ${version}`,
  durability: `${process.env.POSTGRES_VERSION}, fsync and synchronous_commit on`,
  cycle: "three calls in process (no HTTP): start, send, result",
});
await DBOS.shutdown();
process.exit(0);
