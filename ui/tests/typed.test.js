// Typed answers with schemas from pydantic and zod: the form that a person sees, and the recorded answer.
import assert from "node:assert/strict";
import test from "node:test";
import { pydantic } from "./fixtures/pydantic.js";
import { zod } from "./fixtures/zod.js";
import { person } from "./harness/browser.js";
import { card, choose, option, outcome, visitCard } from "./harness/card.js";
import { serve } from "./harness/server.js";
import { t as text } from "./harness/texts.js";
import { ALL, assertSound } from "./harness/views.js";

test("a typed answer is what a person chose", async (t) => {
  const server = await serve(t);
  const page = await person(t, server);
  const form = () => card(page).getByRole("region", { name: text("card.edit"), exact: true });
  const field = (name) => form().getByLabel(name);
  const press = (key, values) => form().getByRole("button", { name: text(key, values), exact: true }).click();
  const wrong = (message) => form().getByText(message, { exact: true });
  // The button is disabled for assistive technology, and pressed anyway.
  const send = () => option(page, "Answer").click({ force: true });
  const status = async ({ id }) => (await server.api("GET", `/v1/interrupts/${id}`)).status;

  async function ask(schema) {
    const asked = await server.agentAsks({ kind: "question", title: "What is it?", response_schema: schema });
    await visitCard(page, asked);
    await form().waitFor();
    return asked;
  }

  async function answered(asked) {
    await outcome(page, /answered by operator/).waitFor();
    return (await server.api("GET", `/v1/interrupts/${asked.id}`)).resolution.edit;
  }

  await t.test("what nobody chose is not sent, but told at its field", async () => {
    const asked = await ask(pydantic.Training);
    assert.equal(await wrong(text("card.edit.missing")).count(), 0);
    assert.equal(await form().getByRole("radio", { checked: true }).count(), 0);
    await form().getByText("Hours a week", { exact: true }).waitFor();
    await field(/^Hours/).fill("5");
    await send();
    await wrong(text("card.edit.missing")).first().waitFor();
    assert.equal(await wrong(text("card.edit.missing")).count(), 3);
    // The first of them has the focus.
    await field(/^sport/).and(page.locator(":focus")).waitFor();
    await assertSound(page, "a form in which something is missing", ALL);
    assert.equal(await status(asked), "open");

    await field(/^sport/).selectOption("bike");
    await form().getByRole("radiogroup", { name: /^Ill/ }).getByLabel(text("card.edit.no")).check();
    await field(/^When/).fill("2026-05-30");
    assert.equal(await wrong(text("card.edit.missing")).count(), 0);
    await send();
    assert.deepEqual(await answered(asked), { sport: "bike", ill: false, hours: 5, when: "2026-05-30" });
    // The value is shown as an answer, not as a change.
    await card(page).getByText("2026-05-30", { exact: true }).waitFor();
    assert.equal(await card(page).getByText(/\+4/).count(), 0);
  });

  await t.test("what is missing is not sent as JSON either", async () => {
    const asked = await ask(pydantic.Training);
    await press("card.edit.json");
    const box = field(text("card.edit.json"));
    await box.fill("{}");
    const answer = card(page).getByRole("button", { name: text("card.edit.wrong", { option: "Answer" }), exact: true });
    assert.equal(await answer.getAttribute("aria-disabled"), "true");
    await answer.click({ force: true });
    await wrong(text("card.edit.missing")).first().waitFor();
    assert.equal(await status(asked), "open");
    await box.fill('{"sport": "bike", "ill": false, "hours": 5, "when": "2026-05-30"}');
    await choose(page, "Answer");
    assert.deepEqual(await answered(asked), { sport: "bike", ill: false, hours: 5, when: "2026-05-30" });
  });

  await t.test("keys that have nothing to do beside a form, or on a card that is settled, say so", async () => {
    const asked = await ask(pydantic.Training);
    const says = (key, name) => card(page).getByRole("status").filter({ hasText: text(key, { key: name }) }).waitFor();
    for (const key of ["a", "e", "r"]) {
      await page.keyboard.press(key);
      await says("card.key.idle", key);
    }
    const edit = { sport: "bike", ill: false, hours: 5, when: "2026-05-30" };
    const { version } = await server.api("GET", `/v1/interrupts/${asked.id}`);
    await server.api("POST", `/v1/interrupts/${asked.id}/decisions`, { option: "answer", version, edit });
    await outcome(page, /answered by operator/).waitFor();
    await page.keyboard.press("e");
    await says("card.key.none", "e");
  });

  await t.test("by the keyboard alone", async () => {
    const asked = await ask(pydantic.Training);
    await field(/^sport/).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Tab");
    await page.keyboard.type("7");
    await page.keyboard.press("Tab");
    await page.keyboard.type("05302026");
    await page.keyboard.press("Control+Enter");
    assert.deepEqual(await answered(asked), { sport: "run", ill: false, hours: 7, when: "2026-05-30" });
  });

  await t.test("a boolean, a number or an enum of numbers alone is one field", async () => {
    let asked = await ask({ type: "boolean" });
    await send();
    await wrong(text("card.edit.missing")).waitFor();
    await field(text("card.edit.no")).check();
    await send();
    assert.equal(await answered(asked), false);

    asked = await ask({ type: "integer", title: "Hours", minimum: 3 });
    await field(/^Hours/).fill("2");
    await send();
    await wrong("2 is less than the minimum of 3").waitFor();
    await field(/^Hours/).pressSequentially("e");
    await wrong(text("card.edit.half.number")).waitFor();
    await field(/^Hours/).fill("12345678901234567890");
    await wrong(text("card.edit.half.number")).waitFor();
    await field(/^Hours/).fill("4");
    await send();
    assert.equal(await answered(asked), 4);

    asked = await ask(pydantic.Level);
    await field(/^Level/).selectOption("2");
    await send();
    assert.equal(await answered(asked), 2);
  });

  await t.test("defaults are filled in and shown", async () => {
    const asked = await ask(pydantic.Filled);
    assert.equal(await field(/^Name/).inputValue(), "Anna");
    await field(/^Name/).fill("Berta");
    await form().getByRole("group", { name: "Rest", exact: true }).getByRole("checkbox").check();
    await send();
    assert.deepEqual(await answered(asked), { name: "Berta", level: 1, weekly: false, rest: null, tags: ["easy"] });
  });

  await t.test("every kind of part has its field", async () => {
    const { again, ...properties } = pydantic.Shapes.$defs.Shapes.properties;
    const asked = await ask({ ...pydantic.Shapes.$defs.Shapes, properties, $defs: { Level: pydantic.Level } });
    assert.equal(again.default, null);
    assert.equal(await form().locator("[aria-invalid=true]").count(), 0);
    await field(text("card.edit.kind", { what: "Price" })).selectOption("Text");
    await form().getByRole("textbox", { name: /^Price/ }).fill("12.50");
    await form().getByRole("checkbox", { name: `${text("card.edit.null")}: Maybe` }).check();
    await field(text("card.edit.kind", { what: "Either" })).selectOption("Whole number");
    await form().getByRole("spinbutton", { name: /^Either/ }).fill("3");

    await press("card.edit.add", { what: "Counts" });
    await send();
    await wrong(text("card.edit.key.none")).waitFor();
    await field(/^Name Counts 1/).fill("constructor");
    await field(text("card.edit.value.of", { name: "constructor" })).fill("1");
    await press("card.edit.add", { what: "Counts" });
    await field(/^Name Counts 2/).fill("constructor");
    await wrong(text("card.edit.key.twice")).waitFor();
    await field(/^Name Counts 2/).fill("b");
    await field(text("card.edit.value.of", { name: "b" })).fill("2");

    await field("Pair 1").fill("1");
    await field("Pair 2").fill("one");
    await field(/^Any/).fill('{"free": tru');
    await wrong(/Invalid JSON/).waitFor();
    await field(/^Any/).fill('{"free": true}');
    await press("card.edit.add", { what: "Texts" });
    await form().getByRole("checkbox", { name: `${text("card.edit.null")}: Texts 1` }).check();
    await field(/^level/).selectOption("1");
    await field(/^Some/).selectOption("2");
    await field(/^At/).fill("2026-05-30T08:00");
    await field(/^Link/).fill("https://example.org/");
    await assertSound(page, "a form with every kind of field", ALL);
    await send();
    const { at, ...rest } = await answered(asked);
    assert.equal(new Date(at).getTime(), await page.evaluate(() => new Date("2026-05-30T08:00").getTime()));
    assert.deepEqual(rest, {
      price: "12.50", maybe: null, either: 3, counts: { constructor: 1, b: 2 }, pair: [1, "one"], any: { free: true }, texts: [null], level: 1, one: "x", some: 2, link: "https://example.org/",
    });
  });

  await t.test("of several forms one is chosen, by its name or by what tells it from the others", async () => {
    let asked = await ask(pydantic.Pet);
    await field(text("card.edit.kind", { what: "Pet" })).selectOption("Dog");
    await send();
    await wrong(text("card.edit.missing")).waitFor();
    await field(/^Breed/).fill("spaniel");
    await send();
    assert.deepEqual(await answered(asked), { pet: { kind: "dog", breed: "spaniel" } });

    asked = await ask(zod.Told);
    await form().getByRole("combobox").selectOption("a");
    await field(/^x/).fill("1");
    await send();
    assert.deepEqual(await answered(asked), { k: "a", x: 1 });
  });

  await t.test("a type that holds itself is added to, level by level", async () => {
    const asked = await ask(pydantic.Tree);
    await field(/^Name/).fill("a");
    await press("card.edit.add", { what: "Kids" });
    await field(/^Name/).nth(1).fill("b");
    await send();
    assert.deepEqual(await answered(asked), { name: "a", kids: [{ name: "b", kids: [] }] });
  });

  await t.test("a list is empty where somebody says so", async () => {
    const asked = await ask(zod.Node);
    await field(/^name/).fill("leaf");
    await send();
    await wrong(text("card.edit.missing")).waitFor();
    await press("card.edit.empty", { what: "sub" });
    await send();
    assert.deepEqual(await answered(asked), { name: "leaf", sub: [] });
  });

  await t.test("200 fields are filled in, and the one that is missing is told", async () => {
    const names = Array.from({ length: 200 }, (_, n) => `day_${n}`);
    const properties = Object.fromEntries(names.map((name) => [name, { type: "integer" }]));
    const asked = await ask({ type: "object", properties, required: names, additionalProperties: false });
    const boxes = form().getByRole("spinbutton");
    await boxes.last().waitFor();
    assert.equal(await boxes.count(), 200);
    for (let n = 0; n < 199; n += 1) await boxes.nth(n).fill("5");
    await send();
    await wrong(text("card.edit.missing")).waitFor();
    assert.equal(await status(asked), "open");
    await boxes.nth(199).fill("5");
    await send();
    assert.deepEqual(await answered(asked), Object.fromEntries(names.map((name) => [name, 5])));
  });

  await t.test("members with names that every object has are kept", async () => {
    const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"},"a/b~c":{"type":"integer","minimum":9}},"required":["__proto__","constructor","a/b~c"]}');
    const asked = await ask(schema);
    await field(/^ proto|^__proto__|proto/).fill("p");
    await field(/^constructor/).fill("c");
    await field(/^a\/b~c/).fill("1");
    await send();
    await wrong("1 is less than the minimum of 9").waitFor();
    await field(/^a\/b~c/).and(form().locator("[aria-invalid=true]")).waitFor();
    await field(/^a\/b~c/).fill("9");
    await send();
    assert.equal(JSON.stringify(await answered(asked)), '{"__proto__":"p","a/b~c":9,"constructor":"c"}');
  });

  await t.test("what was typed is there again after a reload, and what was not is not", async () => {
    const asked = await ask(pydantic.Training);
    await field(/^Hours/).fill("6");
    await page.reload();
    await form().waitFor();
    assert.equal(await field(/^Hours/).inputValue(), "6");
    assert.equal(await form().getByRole("radio", { checked: true }).count(), 0);
    await send();
    assert.equal(await wrong(text("card.edit.missing")).count(), 3);
    assert.equal(await status(asked), "open");
  });

  await t.test("the last field is reached by scrolling, in a small window too", async () => {
    for (const viewport of [{ width: 1280, height: 800 }, { width: 390, height: 844 }]) {
      await page.setViewportSize(viewport);
      await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
      const box = card(page).getByRole("textbox", { name: text("card.text.reason") });
      const isCovered = await box.evaluate((element) => {
        const { left, top, width, height } = element.getBoundingClientRect();
        return document.elementFromPoint(left + width / 2, top + height / 2) !== element;
      });
      assert.equal(isCovered, false, `at ${viewport.width}`);
      await box.click();
    }
  });
});
