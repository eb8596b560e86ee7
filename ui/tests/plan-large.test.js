// A plan of sixty subtasks stays an editable list that a keyboard can use, however many dependencies are possible.
import assert from "node:assert/strict";
import test from "node:test";
import { person } from "./harness/browser.js";
import { card, option, outcome, visitCard } from "./harness/card.js";
import { holdsShort } from "./harness/demo.js";
import { after, needs, rows } from "./harness/plan.js";
import { serve } from "./harness/server.js";
import { t as text } from "./harness/texts.js";
import { assertSound } from "./harness/views.js";

const STEPS = 60;
const name = (n) => `s${String(n).padStart(2, "0")}`;
const SUBTASKS = Array.from({ length: STEPS }, (_, i) => ({
  id: name(i + 1),
  description: `Count the boxes of depot ${i + 1}`,
  depends_on: i < 3 ? [] : [name(i), name(i - 2)],
}));

const workflow = `
name: large
agents:
  planner: {instructions: Plan.}
  worker: {instructions: Work.}
phases:
  - {id: plan, kind: planning, agents: {planner: planner}}
  - {id: work, kind: control, agent: worker}
limits: {plan_steps: ${STEPS}}
`;
const rehearsal = `
agents:
  planner:
    - text: '${JSON.stringify({ subtasks: SUBTASKS })}'
  worker:
    - text: Counted.
`;

test("a plan of 60 steps", async (t) => {
  const server = await serve(t, { workflows: { large: { workflow, rehearsal } } });
  const config = { model: "rehearsal", workspace: server.workspace };
  const { id } = await server.api("POST", "/v1/runs", { workflow: "large", input: { task: "Count everything." }, config });
  const plan = await holdsShort(server, id);
  const page = await person(t, server);
  await visitCard(page, plan);
  await page.keyboard.press("e");
  const edit = card(page).getByRole("region", { name: text("card.edit"), exact: true });
  const last = rows(edit).nth(STEPS - 1);
  await needs(last).waitFor();
  const focused = () => page.locator(":focus");

  await t.test("has a few controls for each step, not one for each pair", async () => {
    const controls = await edit.locator("input, select, textarea").count();
    assert(controls <= STEPS * 4, `${controls} controls`);
    assert.equal(await edit.getByRole("checkbox").count(), 0);
    await page.getByRole("button", { name: text("card.edit.same", { option: text("card.edit.send.plan") }) }).waitFor();
  });

  await t.test("what a step waits for is found by its text, taken and left by keys alone", async () => {
    await needs(last).focus();
    await page.keyboard.type("depot 17");
    const list = last.getByRole("listbox");
    assert.deepEqual(await list.getByRole("option").allInnerTexts().then((all) => all.map((each) => each.includes("s17"))), [true]);
    await page.keyboard.press("Enter");
    await after(last, "s17").waitFor();
    assert.equal(await needs(last).inputValue(), "", "the next one can be typed");
    // Finds by id; the arrow keys move among the matches.
    await page.keyboard.type("s2");
    await page.keyboard.press("ArrowDown");
    const active = await needs(last).getAttribute("aria-activedescendant");
    assert.equal(await page.locator(`[id="${active}"] code`).textContent(), "s21");
    await assertSound(page, "with an open list", ["390-dark"]);
    await page.keyboard.press("Enter");
    await after(last, "s21").waitFor();
    // The first Escape closes the list, and only the next one leaves the field.
    await page.keyboard.press("Escape");
    await list.waitFor({ state: "hidden" });
    assert.equal(await focused().getAttribute("role"), "combobox");
    await page.keyboard.press("Backspace");
    await after(last, "s59").waitFor({ state: "detached" });
    await after(last, "s17").focus();
    await page.keyboard.press("Enter");
    await after(last, "s17").waitFor({ state: "detached" });
    assert.equal(await focused().getAttribute("role"), "combobox", "the focus stays in the row");
  });

  await t.test("a circle is said at once", async () => {
    await needs(rows(edit).first()).focus();
    await page.keyboard.type("s04");
    await page.keyboard.press("Enter");
    await edit.getByText(text("plan.wrong.cycle", { chain: "s01 → s04 → s01" })).waitFor();
    await page.keyboard.press("Backspace");
    await edit.getByText(/Circular/).waitFor({ state: "detached" });
  });

  await t.test("exactly that is sent", async () => {
    await page.keyboard.press("Control+Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Enter");
    await outcome(page, /approved/).waitFor();
    const { resolution } = await server.api("GET", `/v1/interrupts/${plan.id}`);
    assert.deepEqual(resolution.edit.subtasks.at(-1).depends_on, ["s57", "s21"]);
    assert.equal(await option(page, "Edit and approve").count(), 0);
  });
});
