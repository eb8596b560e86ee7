// The adapter for the OpenAI Agents SDK, with the code of the guide, the real SDK and a model that plays a script.

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { TestServer } from "../../server.js";
import { play, ran, requests } from "../script.js";
import { proceed } from "./openai-agents-typescript-deferred.js";
import { answer } from "./openai-agents-typescript-waits.js";

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

/** Returns the output of the last call that the model read. */
function read(): unknown {
  const { output } = requests.at(-1) as { output: string | { text: string } };
  return typeof output === "string" ? output : output.text;
}

test("calls run without approval or with approval, as the predicates say", async () => {
  play([{ id: "call-0", tool: "search", args: { query: "4711" } }, refund(90)], [refund(120, "call-2")], "done");
  const [text, messages] = await Promise.all([answer(conversation, "Refund 4711."), decide({ option: "approve" })]);
  assert.deepEqual([text, messages], ["done", ["120 EUR is a lot"]]);
  assert.deepEqual(ran, [
    ["search", "4711"],
    ["refund", 4711, 90],
    ["refund", 4711, 120],
  ]);
  assert.equal(read(), '{"refunded":120}');
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

test("the tool runs with edited arguments, and the model reads the change and the words", async () => {
  play([refund(500)], "done");
  const edit = { option: "edit", edit: { order: 4711, amount: 50 }, text: "half is enough" };
  await Promise.all([answer(conversation, "Refund 4711."), decide(edit)]);
  assert.deepEqual(ran, [["refund", 4711, 50]]);
  assert.equal(
    read(),
    'A person changed the arguments before the tool ran: {"amount":50,"order":4711}\n' +
      'The person who approved the call says: half is enough\n\n{"refunded":50}',
  );
});

test("an edit has to fit the schema of the tool", async () => {
  play([refund(500)], "done");
  const deciding = (async () => {
    const { id } = await server.nextOpen();
    await assert.rejects(server.decide(id, { option: "edit", edit: { order: 4711, amount: 5000 } }), /\/edit\/amount/);
    await server.decide(id, { option: "approve" });
  })();
  await Promise.all([answer(conversation, "Refund 4711."), deciding]);
  assert.deepEqual(ran, [["refund", 4711, 500]]);
});

test("a rejected call does not run, and the model reads the words", async () => {
  play([refund(500)], "sorry");
  await Promise.all([answer(conversation, "Refund 4711."), decide({ option: "reject", text: "the parcel is lost" })]);
  assert.deepEqual([ran, read()], [[], "rejected by operator: the parcel is lost"]);
});

test("a person provides the result", async () => {
  play([refund(500)], "done");
  await Promise.all([answer(conversation, "Refund 4711."), decide({ option: "respond", text: "refunded by hand" })]);
  assert.deepEqual([ran, read()], [[], "A person provided this result. The tool did not run.\n\nrefunded by hand"]);
});

test("an interrupted run is continued from its saved state, by any process", async () => {
  play([refund(500)], [refund(600, "call-2")], "done");
  const saved: string[] = [];
  // The first process ends when the state is saved.
  const ended = new Error("ended");
  const first = proceed(conversation, "Refund 4711.", (state) => {
    saved.push(state);
    throw ended;
  });
  await assert.rejects(first, ended);
  const edit = { option: "edit", edit: { order: 4711, amount: 50 } };
  const [output] = await Promise.all([
    proceed(conversation, "", (state) => saved.push(state), saved[0]),
    decide(edit, { option: "reject", text: "once is enough" }),
  ]);
  assert.deepEqual([ran, read()], [[["refund", 4711, 50]], "rejected by operator: once is enough"]);
  assert.equal(output, "done");
});

test("a call that a killed process has started does not run again", async () => {
  play([refund(500)], "done", "done");
  const saved: string[] = [];
  const save = (state: string) => void saved.push(state);
  await Promise.all([proceed(conversation, "Refund 4711.", save), decide({ option: "approve" })]);
  assert.deepEqual(ran, [["refund", 4711, 500]]);
  // A process that was killed before it saved the result starts again from the state with the interruption.
  await proceed(conversation, "", save, saved[0]);
  assert.deepEqual(ran, [["refund", 4711, 500]]);
  assert.match(String(read()), /the approval was used at .*: the work may be done/);
});
