// People steer plans: they see changes, edit the list, and see it executed. Everything also works without a mouse.
import assert from "node:assert/strict";
import test from "node:test";
import { person } from "./harness/browser.js";
import { card, choose, option, outcome, sendEdit, visitCard } from "./harness/card.js";
import { holdsShort } from "./harness/demo.js";
import { eventually } from "./harness/eventually.js";
import { after, box, field, graph, ids, needs, rows, wait } from "./harness/plan.js";
import { SECOND, serveSteered } from "./harness/steered.js";
import { t as text } from "./harness/texts.js";
import { ALL, assertSound } from "./harness/views.js";

/** Returns the current plan from the server. */
const planOf = async (server, id) => (await server.api("GET", `/v1/runs/${id}/plans`)).items[0];
const decide = (server, { id }, decision) => server.api("POST", `/v1/interrupts/${id}/decisions`, decision);
const editor = (page) => card(page).getByRole("region", { name: text("card.edit"), exact: true });
const part = (page) => page.locator('[data-plan="plan"]');
const has = (locator) => locator.evaluate((element) => element === document.activeElement);

/** Answers the checkpoint after each subtask until the run has ended. */
async function goOn(server, id) {
  for (let open = await holdsShort(server, id); open; open = await holdsShort(server, id)) {
    await decide(server, open, { option: "continue" });
  }
  return server.api("GET", `/v1/runs/${id}`);
}

/** Returns the executed subtasks with their instructions. */
async function carriedOut(server, id) {
  const { subtasks } = await planOf(server, id);
  return subtasks.map(({ id, status, description, agent, depends_on }) => [id, status, description, agent, depends_on]);
}

test("a plan is shown as a graph, edited as a list, and exactly that is carried out", async (t) => {
  const { server, id } = await serveSteered(t);
  const page = await person(t, server);
  const first = await holdsShort(server, id);
  await visitCard(page, first);
  await graph(card(page)).waitFor();
  assert.equal(await card(page).getByText(text("plan.changes", { n: 0 })).count(), 0);
  await decide(server, first, { option: "revise", text: "Check the numbers, too." });
  const second = await holdsShort(server, id);

  await t.test("what changed since the version before stands on the card in words", async () => {
    await visitCard(page, second);
    const changes = card(page).getByRole("group", { name: text("plan.changes", { n: 1 }) });
    await changes.waitFor();
    const said = await changes.getByRole("listitem").allInnerTexts();
    const words = said.map((each) => each.replaceAll(/\s+/g, " "));
    assert.match(words[0], /script changed Text − was ?Write a script that finds .* \+ Write a script that leaves out what was not measured/);
    assert.match(words[1], /check added by engineer after look Check the numbers by hand/);
    assert.match(words[2], /report changed After script, check \(was script\)/);
    assert.equal(words.length, 3);
    assert.match(await box(card(page), "check").innerText(), /added/);
    await assertSound(page, "a plan on its card", ALL);
    await card(page).getByLabel(text("plan.version"), { exact: true }).selectOption("1");
    await box(card(page), "check").waitFor({ state: "detached" });
    await changes.waitFor({ state: "detached" });
  });

  await t.test("a circle and a subtask without a text are refused before they are sent", async () => {
    await choose(page, "Edit and approve");
    const edit = editor(page);
    await rows(edit).nth(3).waitFor();
    assert.deepEqual(await ids(edit), SECOND.map(({ id }) => id));
    await wait(rows(edit).nth(0), "check");
    await edit.getByText(text("plan.wrong.cycle", { chain: "look → check → look" })).waitFor();
    const send = option(page, text("card.edit.send.plan"));
    // A forced click tests that the disabled button sends nothing.
    await send.click({ force: true });
    assert(await has(needs(rows(edit).nth(0))), "what is wrong has the focus");
    await field(rows(edit).nth(1), "plan.edit.text").fill(" ");
    await edit.getByText(text("plan.wrong.text")).waitFor();
    await after(rows(edit).nth(0), "check").click();
    await send.click({ force: true });
    assert(await has(field(rows(edit).nth(1), "plan.edit.text")), "so has this");
    assert.equal((await server.api("GET", `/v1/interrupts/${second.id}`)).status, "open");
    await wait(rows(edit).nth(0), "check");
    await assertSound(page, "a list with mistakes");
    await after(rows(edit).nth(0), "check").click();
    await field(rows(edit).nth(1), "plan.edit.text").fill("Write the script");
  });

  await t.test("what the server refuses stands at its field", async () => {
    const edit = editor(page);
    await edit.getByRole("button", { name: text("plan.edit.text.mode") }).click();
    const json = edit.getByRole("textbox", { name: text("card.edit.json") });
    const typed = JSON.parse(await json.inputValue());
    typed.subtasks[2].agent = "nobody";
    await json.fill(JSON.stringify(typed));
    await edit.getByRole("button", { name: text("plan.edit.list.mode") }).click();
    await sendEdit(page, "plan");
    await rows(edit).nth(2).getByText("no agent is called `nobody`").waitFor();
    await field(rows(edit).nth(2), "plan.edit.agent").selectOption("writer");
    // The error stays with its row when the row moves.
    await edit.getByRole("button", { name: text("plan.edit.up", { id: "check" }) }).click();
    assert.deepEqual(await ids(edit), ["look", "check", "script", "report"]);
    await rows(edit).nth(1).getByText("no agent is called `nobody`").waitFor();
  });

  await t.test("removed, added, named anew; what waits for a renamed one goes on waiting for it", async () => {
    const edit = editor(page);
    await edit.getByRole("button", { name: text("plan.edit.remove", { id: "look" }) }).click();
    await field(rows(edit).nth(1), "plan.edit.id").fill("program");
    await edit.getByRole("button", { name: text("plan.edit.add") }).click();
    const added = rows(edit).nth(3);
    assert(await has(field(added, "plan.edit.text")), "what is new has the focus");
    await page.keyboard.type("Send it");
    await wait(added, "report");
    // The graph follows the edit.
    await box(edit, "s4").waitFor();
    await box(edit, "look").waitFor({ state: "detached" });
    const lost = page.getByRole("status").filter({ hasText: text("app.lost") });
    await server.kill();
    await lost.waitFor();
    await server.start();
    await lost.waitFor({ state: "detached" });
    assert.deepEqual(await ids(edit), ["check", "program", "report", "s4"], "a restart takes nothing away");
    await sendEdit(page, "plan");
    await outcome(page, /approved/).waitFor();
    const became = card(page).getByRole("group", { name: text("plan.changes.edited") });
    await became.getByRole("listitem").filter({ hasText: /look removed/ }).waitFor();
    await became.getByRole("listitem").filter({ hasText: /s4 added/ }).waitFor();
    await assertSound(page, "a plan that was edited");
  });

  await t.test("exactly that is carried out", async () => {
    const run = await goOn(server, id);
    assert.deepEqual([run.status, run.end_reason], ["completed", "done"]);
    assert.deepEqual(await carriedOut(server, id), [
      ["check", "completed", "Check the numbers by hand", "writer", []],
      ["program", "completed", "Write the script", "engineer", []],
      ["report", "completed", "Write the report", "writer", ["program", "check"]],
      ["s4", "completed", "Send it", "engineer", ["report"]],
    ]);
    await page.goto(`/runs/${id}`);
    await part(page).getByText(text("plan.done", { done: 4, all: 4 })).waitFor();
    assert.equal(await part(page).getByRole("button", { name: text("plan.edit") }).count(), 0, "it is over");
  });
});

test("a plan is steered on the page of its run", async (t) => {
  const { server, id } = await serveSteered(t);
  await decide(server, await holdsShort(server, id), { option: "revise", text: "Check the numbers, too." });
  const page = await person(t, server);
  await page.goto(`/runs/${id}`);
  const asked = await holdsShort(server, id);
  await graph(card(page)).waitFor();
  assert.equal(await part(page).count(), 0, "what waits for its first word is drawn on the card alone");
  await decide(server, asked, { option: "approve" });

  await t.test("each subtask says how it stands, while it changes", async () => {
    const plan = part(page);
    await plan.getByText(text("plan.done", { done: 0, all: 4 })).waitFor();
    await box(plan, "look").getByText(text("plan.status.waiting")).waitFor();
    await box(plan, "report").getByText(text("plan.status.pending")).waitFor();
    await assertSound(page, "a plan that is carried out", ALL);
    await box(plan, "script").click();
    await plan.getByText(SECOND[1].description).last().waitFor();
    const open = (await server.api("GET", `/v1/interrupts?run=${id}&status=open`)).items;
    await decide(server, open.find(({ step }) => step === "work/look"), { option: "continue" });
    await box(plan, "look").getByText(text("plan.status.completed")).waitFor();
    await box(plan, "check").getByText(text("plan.status.waiting")).waitFor();
    await plan.getByText(text("plan.done", { done: 1, all: 4 })).waitFor();
    await plan.getByLabel(text("plan.version"), { exact: true }).selectOption("2");
    await plan.getByRole("group", { name: text("plan.changes", { n: 1 }) }).waitFor();
    await assertSound(page, "two versions of a plan");
  });

  await t.test("the keyboard alone moves, adds, removes and saves what has not started", async () => {
    const plan = part(page);
    const press = (key) => page.keyboard.press(key);
    await plan.getByRole("button", { name: text("plan.edit") }).focus();
    await press("Enter");
    await rows(plan).nth(3).waitFor();
    assert.deepEqual(await ids(plan), ["look", "script", "check", "report"]);
    assert.equal(await plan.getByText(text("plan.edit.started"), { exact: false }).count() >= 3, true, "three have started");
    await eventually("the first field to have the focus", () => has(field(rows(plan).nth(3), "plan.edit.text")));
    await press("Alt+ArrowUp");
    assert.deepEqual(await ids(plan), ["look", "script", "report", "check"]);
    assert(await has(field(rows(plan).nth(2), "plan.edit.text")), "what moved keeps the focus");
    await plan.getByText(text("plan.heard.moved", { id: "report", n: 3, all: 4 })).waitFor({ state: "attached" });
    await press("Alt+ArrowDown");
    await press("End");
    await page.keyboard.type(", in one page");
    const add = plan.getByRole("button", { name: text("plan.edit.add") });
    for (let n = 0; n < 20 && !(await has(add)); n += 1) await press("Tab");
    await press("Enter");
    await page.keyboard.type("Send it");
    assert.equal(await field(rows(plan).nth(4), "plan.edit.text").inputValue(), "Send it");
    // A letter typed on a button of the list is not a command of the card above.
    const up = rows(plan).nth(4).getByRole("button", { name: text("plan.edit.up", { id: "s5" }) });
    for (let n = 0; n < 20 && !(await has(up)); n += 1) await press("Tab");
    await press("a");
    await press("Enter");
    assert.deepEqual(await ids(plan), ["look", "script", "check", "s5", "report"]);
    await press("Enter");
    assert(await has(plan.getByRole("button", { name: text("plan.edit.up", { id: "s5" }) })), "the button keeps the focus");
    await assertSound(page, "a plan that is written anew", ALL);
  });

  await t.test("somebody was faster: it says so, and keeps what was typed", async () => {
    const plan = part(page);
    const mine = await ids(plan);
    const now = await planOf(server, id);
    const theirs = now.versions[1].subtasks.map((each) => (each.id === "report" ? { ...each, description: "Write a letter" } : each));
    await server.api("PUT", `/v1/runs/${id}/plans/plan`, { plan: { subtasks: theirs }, version: 2 });
    await plan.getByRole("button", { name: text("plan.edit.save") }).click();
    await plan.getByText(text("plan.edit.stale")).waitFor();
    assert.deepEqual(await ids(plan), mine);
    await assertSound(page, "a plan that came too late");
    // One plan waits on its card while the other runs below. All their parts have different names.
    const waiting = page.getByRole("list", { name: text("run.open.which") });
    await waiting.getByRole("button", { name: new RegExp(text("kind.plan_approval")) }).click();
    await graph(card(page)).waitFor();
    await assertSound(page, "a plan on its card and on the page of its run");
    const rival = (await server.api("GET", `/v1/interrupts?run=${id}&status=open`)).items.find(({ kind }) => kind === "plan_approval");
    await decide(server, rival, { option: "reject", text: "No letters." });
    await plan.getByText(text("plan.held", { version: 3 })).waitFor({ state: "detached" });
    await page.reload();
    await rows(plan).nth(4).waitFor();
    assert.deepEqual(await ids(plan), mine, "a reload keeps it");
    await plan.getByRole("button", { name: text("plan.edit.save") }).click();
    await plan.getByText(text("plan.edit.asked")).waitFor();
    await plan.getByText(text("plan.held", { version: 4 })).waitFor();
  });

  await t.test("the new version is carried out once somebody has approved it", async () => {
    const open = (await server.api("GET", `/v1/interrupts?run=${id}&status=open`)).items;
    await decide(server, open.find(({ kind }) => kind === "plan_approval"), { option: "approve" });
    const plan = part(page);
    await plan.getByRole("button", { name: text("plan.edit") }).click();
    await field(rows(plan).nth(4), "plan.edit.text").fill("Write a book");
    await goOn(server, id);
    const done = await carriedOut(server, id);
    assert.deepEqual(done.map(([id, status]) => `${id} ${status}`).toSorted(), [
      "check completed",
      "look completed",
      "report completed",
      "s5 completed",
      "script completed",
    ]);
    assert.equal(done.find(([id]) => id === "report")[2], "Write the report, in one page");
    await plan.getByText(text("plan.done", { done: 5, all: 5 })).waitFor();
    // The run ended before the edit was saved. The typed text is kept.
    await plan.getByText(text("plan.edit.started.since")).waitFor();
    await plan.getByText(/Write a book/).first().waitFor();
    await plan.getByRole("button", { name: text("plan.edit.save") }).click();
    await plan.getByRole("alert").filter({ hasText: "run_ended" }).waitFor();
    await plan.getByRole("button", { name: text("plan.edit.discard") }).click();
    await graph(plan).waitFor();
    await assertSound(page, "a plan that is done");
  });
});
