// A question with a response schema shows a form, errors at its fields, and JSON where no field fits.
import assert from "node:assert/strict";
import test from "node:test";
import { person } from "./harness/browser.js";
import { card, choose, option, outcome, sendEdit, visitCard } from "./harness/card.js";
import { serve } from "./harness/server.js";
import { t as text } from "./harness/texts.js";
import { assertSound } from "./harness/views.js";

const SCHEMA = {
  $defs: {
    Currency: { type: "string", enum: ["EUR", "USD"] },
    Line: { type: "object", properties: { sku: { type: "string" }, quantity: { type: "integer" } }, required: ["sku", "quantity"] },
    Refund: {
      type: "object",
      properties: {
        amount: { type: "number", maximum: 500 },
        currency: { $ref: "#/$defs/Currency" },
        lines: { type: "array", items: { $ref: "#/$defs/Line" } },
        note: { anyOf: [{ type: "string" }, { type: "null" }], default: null },
      },
      required: ["amount", "currency"],
    },
  },
  $ref: "#/$defs/Refund",
};
const ASK = { kind: "question", title: "What is paid back?", response_schema: SCHEMA };

test("an answer of data is written in a form", async (t) => {
  const server = await serve(t);
  const page = await person(t, server);
  const now = async ({ id }) => server.api("GET", `/v1/interrupts/${id}`);
  const field = (name) => card(page).getByRole("region", { name: text("card.edit"), exact: true }).getByLabel(name);

  await t.test("what does not fit stands beside its field, and the question stays open", async () => {
    const asked = await server.agentAsks(ASK);
    await visitCard(page, asked);
    await field(/^amount/).fill("900");
    await field(/^currency/).selectOption("USD");
    await assertSound(page, "a question with a form");
    await choose(page, "Answer");
    await field(/^amount/).and(card(page).locator("[aria-invalid=true]")).waitFor();
    await card(page).getByText("900 is greater than the maximum of 500", { exact: true }).waitFor();
    assert.equal((await now(asked)).status, "open");
    await field(/^amount/).fill("90");
    await choose(page, "Answer");
    await outcome(page, /answered by operator/).waitFor();
    assert.deepEqual((await now(asked)).resolution.edit, { amount: 90, currency: "USD" });
  });

  await t.test("what has no form is written as JSON, with its schema beside it, and is not wrong before it is written", async () => {
    const anything = { description: "Whatever you know", not: { type: "null" } };
    const asked = await server.agentAsks({ ...ASK, response_schema: anything });
    await visitCard(page, asked);
    await card(page).getByText(text("card.edit.schema")).click();
    await card(page).getByText('"description": "Whatever you know"').waitFor();
    const box = field(text("card.edit.json"));
    assert.equal(await box.getAttribute("aria-invalid"), "false");
    await option(page, "Answer").click({ force: true });
    await card(page).getByText(text("card.edit.missing")).waitFor();
    await box.and(card(page).locator("[aria-invalid=true]:focus")).waitFor();
    await box.fill('{"name": "a", "children": [{"name": "b"}]}');
    await choose(page, "Answer");
    await outcome(page, /answered by operator/).waitFor();
    assert.deepEqual((await now(asked)).resolution.edit, { name: "a", children: [{ name: "b" }] });
  });

  await t.test("the texts that a schema allows are suggested", async () => {
    const asked = await server.agentAsks({ ...ASK, response_schema: { $defs: { When: { enum: ["now", "later"] } }, $ref: "#/$defs/When" } });
    await visitCard(page, asked);
    await card(page).getByRole("radio", { name: "later" }).check();
    await choose(page, "Answer");
    await outcome(page, /answered by operator/).waitFor();
    assert.equal((await now(asked)).resolution.text, "later");
  });

  await t.test("an edit of an object is an object", async () => {
    const asked = await server.agentAsks({ kind: "tool_approval", title: "Pay", payload: { arguments: { amount: 3 } } });
    await visitCard(page, asked);
    await choose(page, "Edit and approve");
    await field(text("card.edit.json")).fill('"all of it"');
    await sendEdit(page, "call");
    await card(page).getByText("must be an object, like the value that it replaces", { exact: true }).waitFor();
    assert.equal((await now(asked)).status, "open");
  });

  // A fake speech recognition, which recognizes two sentences.
  const hears = () => {
    window.webkitSpeechRecognition = window.SpeechRecognition = class {
      start() {
        const said = (...texts) => this.onresult({ results: texts.map((transcript) => [{ transcript }]) });
        said("the first");
        said("the first one", " not the second");
      }
      stop() {
        this.onend();
      }
      abort() {}
    };
    window.spoken = [];
    window.speechSynthesis.speak = (words) => window.spoken.push(words.text);
  };

  await t.test("a question is read aloud, and its answer dictated", async () => {
    await page.addInitScript(hears);
    // A title may be cut. The whole question is read aloud, with its context.
    const question = `Which one is paid, of ${"these, ".repeat(80)}and the last?`;
    const payload = { question, context: "Two are open." };
    const asked = await server.agentAsks({ kind: "question", title: question.slice(0, 499), payload });
    await visitCard(page, asked);
    await card(page).getByRole("button", { name: text("voice.read"), exact: true }).click();
    assert.deepEqual(await page.evaluate(() => window.spoken), [question, "Two are open."]);
    await card(page).getByRole("button", { name: text("voice.quiet"), exact: true }).waitFor();
    await card(page).getByLabel(text("card.text.answer")).fill("I think");
    await card(page).getByRole("button", { name: text("voice.dictate"), exact: true }).click();
    await card(page).getByText(text("voice.listens")).waitFor();
    await assertSound(page, "a question that listens");
    await card(page).getByRole("button", { name: text("voice.done"), exact: true }).click();
    await choose(page, "Answer");
    await outcome(page, /answered by operator/).waitFor();
    assert.equal((await now(asked)).resolution.text, "I think the first one not the second");
  });

  await t.test("a browser without a voice shows no buttons for it", async () => {
    await page.addInitScript(() => {
      delete window.speechSynthesis;
      delete Object.getPrototypeOf(window).speechSynthesis;
      window.webkitSpeechRecognition = window.SpeechRecognition = undefined;
    });
    const asked = await server.agentAsks({ kind: "question", title: "Which one is paid?", payload: { choices: ["a", "b"] } });
    await visitCard(page, asked);
    await card(page).getByRole("radio", { name: "a", exact: true }).waitFor();
    assert.equal(await card(page).getByRole("button", { name: text("voice.dictate"), exact: true }).count(), 0);
    assert.equal(await card(page).getByRole("button", { name: text("voice.read"), exact: true }).count(), 0);
  });

  await t.test("an answer that was given before is taken with one key, with its date and source", async () => {
    const about = async (subject, question) => {
      const run = await server.agentStarts({ task: "ask", subject });
      return server.agentAsks({ kind: "question", run: run.id, title: question });
    };
    const source = await about("athlete-7", "Were you ill in May?");
    await server.api("POST", `/v1/interrupts/${source.id}/decisions`, { option: "answer", text: "Yes, a week." });

    const elsewhere = await about("athlete-8", "Were you ill in May?");
    await visitCard(page, elsewhere);
    await option(page, "Answer").waitFor();
    const asked = await about("athlete-7", "were you ill in  MAY?");
    await visitCard(page, asked);
    const before = card(page).getByRole("region", { name: text("earlier.title"), exact: true });
    await before.getByText("Yes, a week.", { exact: true }).waitFor();
    await before.getByText(/operator, to “Were you ill in May\?”/).waitFor();
    await before.locator("time").waitFor();
    await assertSound(page, "a question that was answered before");
    await page.keyboard.press("h");
    await outcome(page, /answered by operator/).waitFor();
    const { resolution } = await now(asked);
    assert.deepEqual([resolution.text, resolution.from], ["Yes, a week.", source.id]);

    // Answers about other subjects are not offered. An answer that was erased since is rejected, with the reason.
    await visitCard(page, elsewhere);
    await option(page, "Answer").waitFor();
    assert.equal(await before.count(), 0);
    const late = await about("athlete-7", "Were you ill in May?");
    await visitCard(page, late);
    await before.getByText("Yes, a week.", { exact: true }).waitFor();
    for (const { id } of [source, asked]) await server.api("DELETE", `/v1/answers/${id}`);
    await before.getByRole("button", { name: text("earlier.use") }).click();
    await before.getByText("refers to an earlier answer that has been erased").waitFor();
    assert.equal((await now(late)).status, "open");
  });
});
