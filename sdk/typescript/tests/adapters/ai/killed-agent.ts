// An agent with the deferred loop of the guide, which kills itself at one of its steps. The messages are in a file.

import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { ModelMessage } from "ai";
import { play, ran } from "../script.js";
import { proceed } from "./vercel-ai-deferred.js";

const [order = "", folder = "", fatal = ""] = process.argv.slice(2);
const file = `${folder}/messages.json`;
const counts = new Map<string, number>();

/** Prints a step of the process, and ends it there if it is the fatal step. */
function step(name: string): void {
  const count = (counts.get(name) ?? 0) + 1;
  counts.set(name, count);
  process.stdout.write(`${name} ${count}\n`);
  if (`${name} ${count}` !== fatal) return;
  process.kill(process.pid, "SIGKILL");
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
}

const send = globalThis.fetch;
globalThis.fetch = async (input, init) => {
  const name = new URL(String(input)).pathname.replace(/int_\w+/, "{id}");
  step(`before ${name}`);
  const response = await send(input, init);
  step(`after ${name}`);
  return response;
};

ran.push = (call) => {
  step("before the work");
  appendFileSync(`${folder}/ran`, `${JSON.stringify(call)}\n`);
  step("after the work");
  return 1;
};

const isFirst = !existsSync(file);
const messages: ModelMessage[] = isFirst
  ? [{ role: "user", content: `Refund ${order}.` }]
  : JSON.parse(readFileSync(file, "utf8"));
const call = { id: "call-1", tool: "refund", args: { order: Number(order), amount: 500 } };
play(...(isFirst ? [[call]] : []), "done");
await proceed(`order ${order}`, messages, async () => {
  step("before the save");
  writeFileSync(`${file}.new`, JSON.stringify(messages));
  renameSync(`${file}.new`, file);
  step("after the save");
});
process.exit(0);
