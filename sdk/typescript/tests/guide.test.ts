// The code blocks of the guide `docs/guides/sdk-typescript.md`, which `guides.mjs` writes into modules.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Rejected } from "holdshort-sdk";
import { refund } from "./guide/sdk-typescript-approve.js";
import { deployAt } from "./guide/sdk-typescript-ask.js";
import { removeRows, transfer } from "./guide/sdk-typescript-wrap.js";
import { TestServer } from "./server.js";

const server = new TestServer();
before(async () => {
  await server.start();
  process.env.HOLDSHORT_URL = server.url;
  process.env.HOLDSHORT_AGENT_TOKEN = server.agent;
});
after(() => server.end());

async function decide(decision: object): Promise<string> {
  const { id, message } = await server.nextOpen();
  await server.decide(id, decision);
  return message;
}

test("the guide asks for data", async () => {
  const [at] = await Promise.all([deployAt("1.2"), decide({ option: "answer", edit: { day: "tue", hour: 14 } })]);
  assert.equal(at, "tue at 14");
});

test("the guide approves a call", async () => {
  const edit = { option: "edit", edit: { order: 4711, amount: 60 } };
  const [text, message] = await Promise.all([refund(4711, 120), decide(edit)]);
  assert.deepEqual([text, message], ["refunded 60, approved by operator", "The parcel came back."]);
});

test("the guide wraps functions", async () => {
  assert.equal(await transfer({ amount: 100 }), "sent 100");
  const [sent, why] = await Promise.all([transfer({ amount: 101 }), decide({ option: "approve" })]);
  assert.deepEqual([sent, why], ["sent 101", "101 is more than 100"]);
  const removing = assert.rejects(removeRows({ table: "orders" }), Rejected);
  assert.equal((await Promise.all([decide({ option: "reject" }), removing]))[0], "removes 41000 rows");
});
