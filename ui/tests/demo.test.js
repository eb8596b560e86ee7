// The whole demo, decided in the browser.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import test from "node:test";
import { person } from "./harness/browser.js";
import { card, choose, inbox, option, outcome, sendEdit, shown, words } from "./harness/card.js";
import { holdsShort, serveDemo } from "./harness/demo.js";
import { shoot } from "./harness/shots.js";
import { t as text } from "./harness/texts.js";

test("the demo, from the first question to the released result", async (t) => {
  const { server, id, repository } = await serveDemo(t);
  const page = await person(t, server);
  const git = (...args) => execFileSync("git", ["-C", repository, ...args], { encoding: "utf8" });

  /** Opens the next interrupt, which arrives by itself, through the one link to it. */
  async function next(kind) {
    const interrupt = await holdsShort(server, id);
    assert.equal(interrupt?.kind, kind);
    await page.getByRole("link", { name: text("inbox.next") }).click();
    await shown(page, interrupt);
  }
  /** Waits for the outcome with its decider. */
  async function decided(how) {
    await outcome(page, new RegExp(`${how}.*by operator`)).waitFor();
  }

  await t.test("the only one that waits is open beside the list, until it is left", async () => {
    await shown(page, await holdsShort(server, id));
    await page.keyboard.press("Escape");
    await page.getByText(text("inbox.pick")).waitFor();
  });

  await t.test("a suggested answer", async () => {
    await inbox(page).getByRole("link", { name: /^Question/ }).click();
    await card(page).getByRole("group", { name: text("card.answers") }).getByLabel("the period that begins").check();
    assert.equal(await words(page).inputValue(), "the period that begins");
    await choose(page, "Answer");
    await decided("answered");
  });

  await t.test("a plan", async () => {
    await next("plan_approval");
    const about = card(page).getByRole("group", { name: text("card.plan"), exact: true });
    const plan = about.getByRole("list", { name: text("card.plan.subtasks") });
    await plan.getByText("every day in one period; the day between two belongs to the one that begins").waitFor();
    assert.equal(await plan.getByRole("listitem").count(), 4);
    // The graph shows the same plan.
    const boxes = about.getByRole("group", { name: text("plan.graph") }).getByRole("listitem");
    await boxes.last().waitFor();
    assert.equal(await boxes.count(), 4);
    await choose(page, "Approve");
    await decided("approved");
  });

  await t.test("a change, inline and side by side, allowed for the session", async () => {
    await next("tool_approval");
    const change = card(page).getByRole("figure", { name: text("card.diff.title", { path: "boxrent/money.py" }) });
    await change.getByLabel(text("card.diff.inline")).check();
    await change.getByRole("row").filter({ hasText: "return round(cents * part / whole)" }).waitFor();
    assert.equal(await change.getByRole("columnheader").count(), 4);
    await change.getByLabel(text("card.diff.sides")).check();
    await change.getByRole("columnheader").nth(5).waitFor();
    assert.equal(await change.getByRole("columnheader").count(), 6);
    const row = change.getByRole("row").filter({ hasText: "round(cents * part / whole)" });
    assert.match(await row.textContent(), /\(2 \* cents \* part \+ whole\)/, "both versions stand in one row");
    await choose(page, "Approve for this session");
    await decided("approved");
    await card(page).getByRole("link", { name: text("card.grants") }).waitFor();
  });

  await t.test("a command that was tried, edited as JSON: it is tried again, and asked about anew", async () => {
    await next("tool_approval");
    assert.match(git("diff"), /The day on which two periods meet/, "nobody was asked about the second change");
    await card(page).getByText("python3 -m examples.render", { exact: true }).first().waitFor();
    await choose(page, "Edit and approve");
    const edit = card(page).getByRole("region", { name: text("card.edit"), exact: true });
    await edit.getByRole("button", { name: text("card.edit.json") }).click();
    const json = edit.getByRole("textbox", { name: text("card.edit.json") });
    await json.fill('{"command": "python3 -m examples');
    await edit.getByText(/^Invalid JSON, line 1:/).waitFor();
    // A forced click tests that the disabled button sends nothing.
    await option(page, text("card.edit.send.command")).click({ force: true });
    assert.equal(await json.evaluate((box) => box === document.activeElement), true, "what is no JSON is not sent");
    await json.fill('{"command": "python3 -m examples.render && rm examples/winter.txt"}');
    await sendEdit(page, "command");
    await decided("approved");
  });

  await t.test("exactly what is shown is released", async () => {
    await next("tool_approval");
    const trial = card(page).getByRole("group", { name: text("trial.title") });
    await trial.getByText(/^1 file changed, 1 deleted/).waitFor();
    const change = trial.getByRole("figure", { name: text("card.diff.title", { path: "examples/quarter.txt" }) });
    await change.getByText("all of it: 133.87").waitFor();
    assert.match(git("status", "--short", "examples"), /^$/, "nothing has happened yet");
    await shoot(page, "demo-trial");
    await choose(page, "Approve some of the changes");
    await card(page).getByRole("group", { name: text("trial.keep") }).getByRole("checkbox", { name: "winter.txt" }).uncheck();
    await choose(page, "Approve some of the changes");
    await page.getByRole("dialog").getByRole("button", { name: "Approve some of the changes" }).click();
    await decided("approved");
  });

  await t.test("the review, released", async () => {
    await next("review");
    await card(page).getByRole("region", { name: text("card.review") }).getByText("boxrent: both faults fixed").waitFor();
    await choose(page, "Approve");
    await decided("approved");
    assert.equal(await holdsShort(server, id), undefined);
    await inbox(page).getByText(text("inbox.empty")).waitFor();
  });

  await t.test("the run page shows how it went and what came of it", async () => {
    await card(page).getByRole("link", { name: text("card.run") }).click();
    await page.getByRole("main").getByText(text("status.completed"), { exact: true }).first().waitFor();
    const result = page.getByRole("region", { name: text("run.result") });
    await result.getByText("Done. The suite passes").waitFor();
    await result.getByText("you said: the period that begins").waitFor();
    const conversation = page.getByRole("tabpanel");
    await conversation.getByText(text("run.gate.grant")).waitFor();
    assert.equal(await conversation.getByText(text("run.call.edited")).count(), 1);
    await page.getByText(text("run.message.over")).waitFor();
    assert.match(git("status", "--short", "--untracked-files=no"), /^ M boxrent\/money.py\n M boxrent\/periods.py\n M examples\/quarter.txt\n$/);
  });
});
