// An agent that kills itself at one of its steps. `killed.test.ts` starts it, again and again with the same keys.

import { appendFileSync } from "node:fs";
import { ApprovalUsed, Holdshort } from "holdshort-sdk";

const [kind = "", key = "", fatal = "", file = ""] = process.argv.slice(2);

/** Prints a step of the process, and ends it there if it is the fatal step. */
function step(name: string): void {
  process.stdout.write(`${name}\n`);
  if (name !== fatal) return;
  process.kill(process.pid, "SIGKILL");
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
}

const client = new Holdshort({
  log: (line) => step(line.replace(/ on .*/s, "")),
  fetch: async (input, init) => {
    const name = `${init?.method ?? "GET"} ${new URL(String(input)).pathname.replace(/int_\w+/, "{id}")}`;
    step(`before ${name}`);
    const response = await fetch(input, init);
    step(`after ${name}`);
    return response;
  },
});

async function tool({ n }: { n: number }): Promise<string> {
  step("before the work");
  appendFileSync(file, `ran ${n}\n`);
  step("after the work");
  return `ran ${n}`;
}

const run = {
  ask: () => client.ask(key, { key: ["killed", key] }),
  approve: () => client.requireApproval(tool, { title: key, key: ["killed", key] })({ n: 7 }),
}[kind];

const result = await run?.().catch((error: unknown) => {
  if (error instanceof ApprovalUsed) return "used before";
  throw error;
});
step("heard");
process.stdout.write(`${result}\n`);
