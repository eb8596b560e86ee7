// The adapter for Mastra, with the code of the guide, the real `@mastra/core` and a model that plays a script.

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { MockMemory } from "@mastra/core/memory";
import { InMemoryStore } from "@mastra/core/storage";
import { TestServer } from "../../server.js";
import { play, ran, requests } from "../script.js";
import { model } from "./agent.js";
import { gateOf, proceed } from "./mastra-deferred.js";
import { answer } from "./mastra-waits.js";

const server = new TestServer();
before(async () => {
  await server.start();
  process.env.HOLDSHORT_URL = server.url;
  process.env.HOLDSHORT_AGENT_TOKEN = server.agent;
});
after(() => server.end());

let conversation = "";
beforeEach((t) => {
  conversation = t.name;
});

const refund = (amount: number, id = "call-1") => ({ id, tool: "refund", args: { order: 4711, amount } });

/** Decides on the next open request with each of these decisions. Returns the messages of the cards. */
async function decide(...decisions: object[]): Promise<string[]> {
  const messages = [];
  for (const decision of decisions) {
    const { id, message } = await server.nextOpen();
    messages.push(message);
    await server.decide(id, decision);
  }
  return messages;
}

/** Returns the output of the last tool result that the model read. */
function read(): unknown {
  const { content } = requests.at(-1) as { content: { type: string; output: { value: unknown } }[] };
  return content.find((part) => part.type === "tool-result")?.output.value;
}

/** An agent of a new process: only the storage is that of the processes before it. */
function start(storage: InMemoryStore): [ReturnType<typeof gateOf>, Agent, string] {
  const gate = gateOf(conversation);
  const memory = new MockMemory({ storage });
  const agent = new Agent({ id: "support", name: "Support", instructions: "Help.", model, tools: gate.tools, memory });
  new Mastra({ agents: { support: agent }, storage, logger: false });
  return [gate, agent as unknown as Agent, conversation];
}

test("calls run without approval or with approval, as the predicates say", async () => {
  play([{ id: "call-0", tool: "search", args: { query: "4711" } }], [refund(90)], [refund(120, "call-2")], "done");
  const [text, messages] = await Promise.all([answer(conversation, "Refund 4711."), decide({ option: "approve" })]);
  assert.deepEqual([text, messages], ["done", ["120 EUR is a lot"]]);
  assert.deepEqual(ran, [
    ["search", "4711"],
    ["refund", 4711, 90],
    ["refund", 4711, 120],
  ]);
  assert.deepEqual(read(), { refunded: 120 });
});

test("the tool runs with edited arguments, and the model reads the change and the words", async () => {
  play([refund(500)], "done");
  const edit = { option: "edit", edit: { order: 4711, amount: 50 }, text: "half is enough" };
  await Promise.all([answer(conversation, "Refund 4711."), decide(edit)]);
  assert.deepEqual(ran, [["refund", 4711, 50]]);
  assert.deepEqual(read(), {
    note:
      'A person changed the arguments before the tool ran: {"order":4711,"amount":50}\n' +
      "The person who approved the call says: half is enough",
    result: { refunded: 50 },
  });
});

test("a rejected call does not run, and the model reads the words", async () => {
  play([refund(500)], "sorry");
  await Promise.all([answer(conversation, "Refund 4711."), decide({ option: "reject", text: "the parcel is lost" })]);
  assert.deepEqual(ran, []);
  assert.equal(read(), "rejected by operator: the parcel is lost");
});

test("a person provides the result", async () => {
  play([refund(500)], "done");
  await Promise.all([answer(conversation, "Refund 4711."), decide({ option: "respond", text: "refunded by hand" })]);
  assert.deepEqual(ran, []);
  assert.deepEqual(read(), {
    note: "A person provided this result. The tool did not run.",
    result: "refunded by hand",
  });
});

test("parallel calls are separate cards at the same time", async () => {
  play([refund(500, "a"), refund(600, "b")], "done");
  const decisions = (async () => {
    for (const { id, payload } of await server.open(2)) {
      await server.decide(id, { option: payload.arguments.amount === 500 ? "approve" : "reject" });
    }
  })();
  await Promise.all([answer(conversation, "Refund 4711."), decisions]);
  assert.deepEqual(ran, [["refund", 4711, 500]]);
});

test("deferred parallel calls are decided one after the other", async () => {
  play([refund(500, "a"), refund(600, "b")], "done");
  const deciding = decide({ option: "approve" }, { option: "reject", text: "once is enough" });
  await Promise.all([proceed(...start(new InMemoryStore()), "Refund 4711."), deciding]);
  assert.deepEqual(ran, [["refund", 4711, 500]]);
});

test("a deferred run is finished after each of its decisions", async () => {
  play([refund(500)], [refund(600, "call-2")], "done");
  const edit = { option: "edit", edit: { order: 4711, amount: 60 } };
  const [results] = await Promise.all([
    proceed(...start(new InMemoryStore()), "Refund 4711."),
    decide({ option: "approve" }, edit),
  ]);
  assert.equal((results[0] as { text: string }).text, "done");
  assert.deepEqual(ran, [
    ["refund", 4711, 500],
    ["refund", 4711, 60],
  ]);
});

test("a deferred run that is rejected gets the words", async () => {
  play([refund(500)], "sorry");
  const rejecting = decide({ option: "reject", text: "the parcel is lost" });
  await Promise.all([proceed(...start(new InMemoryStore()), "Refund 4711."), rejecting]);
  assert.deepEqual(ran, []);
  assert.match(JSON.stringify(read()), /the parcel is lost/);
});

test("a suspended run is resumed from the storage alone", async () => {
  play([refund(500)], "done");
  const storage = new InMemoryStore();
  const [, first] = start(storage);
  const memory = { thread: conversation, resource: conversation };
  const { finishReason } = await first.generate("Refund 4711.", { memory });
  assert.equal(finishReason, "suspended");
  const edit = { option: "edit", edit: { order: 4711, amount: 50 } };
  const [results] = await Promise.all([proceed(...start(storage)), decide(edit)]);
  assert.deepEqual([(results[0] as { text: string }).text, results.length], ["done", 1]);
  assert.deepEqual(ran, [["refund", 4711, 50]]);
  assert.deepEqual(await proceed(...start(storage)), []);
});

test("a call that a killed process has started does not run again", async () => {
  play([refund(500)], "done", "done");
  const storage = new InMemoryStore();
  const [gate, first] = start(storage);
  await first.generate("Refund 4711.", { memory: { thread: conversation, resource: conversation } });
  const [refunding] = await server.open(0);
  assert.equal(refunding, undefined, "nothing is asked before `finish` or `resume`");
  // The first process has used the approval and was killed before Mastra saved the result.
  const context = { agent: { toolCallId: "call-1" } } as never;
  await Promise.all([
    gate.tools.refund.execute?.({ order: 4711, amount: 500 }, context),
    decide({ option: "approve" }),
  ]);
  assert.deepEqual(ran, [["refund", 4711, 500]]);
  await proceed(...start(storage));
  assert.deepEqual(ran, [["refund", 4711, 500]]);
  assert.match(JSON.stringify(requests.at(-1)), /the approval was used at .*: the work may be done/);
});
