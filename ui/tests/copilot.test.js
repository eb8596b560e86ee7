// A copilot in the browser, and the same conversation in a terminal: both show choices, plans and turns, and either can
// decide.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { person } from "./harness/browser.js";
import { card, choose } from "./harness/card.js";
import { openChat } from "./harness/chat.js";
import { box, openIn, say, turns } from "./harness/conversation.js";
import { openCopilot, PLAN, serveCopilot } from "./harness/copilot.js";
import { eventually } from "./harness/eventually.js";
import { shoot } from "./harness/shots.js";
import { t as text } from "./harness/texts.js";
import { ALL, assertSound } from "./harness/views.js";

const waits = (server, session, kind) =>
  eventually(`${kind} to wait`, async () => {
    const open = await openIn(server, session);
    return open?.kind === kind && open;
  });

test("a copilot offers ways, plans, works, and hears its person after each round", async (t) => {
  const server = await serveCopilot(t);
  const page = await person(t, server);
  const session = await openCopilot(server);
  await page.goto(`/sessions/${session}`);
  await box(page).fill("Put my notes in order.");
  await box(page).press("Enter");

  await t.test("a choice names its ways, with what speaks for and against each", async () => {
    const { run } = await waits(server, session, "choice");
    const ways = card(page).getByRole("list", { name: text("card.proposals"), exact: true }).locator("> li");
    await ways.getByText("easy to find").waitFor();
    assert.deepEqual(await ways.locator("strong").allTextContents(), ["By name", "By day"]);
    await ways.first().getByRole("list", { name: text("card.proposals.cons") }).getByText("no order of time").waitFor();
    assert.equal(await card(page).getByText("proposals").count(), 0);
    await assertSound(page, "a choice of ways", ALL);
    await shoot(page, "copilot-choice");
    await choose(page, "By name");
    await turns(page).getByText(/By name by operator/).first().waitFor();
    const { items } = await server.api("GET", `/v1/runs/${run}/events?limit=200`);
    assert(items.some(({ type }) => type === "task_extended"));
  });

  await t.test("a plan stands on its card, and never as JSON", async () => {
    const { run } = await waits(server, session, "plan_approval");
    await card(page).getByText(PLAN.subtasks[0].description).first().waitFor();
    await turns(page).getByText("I have it planned.").first().waitFor();
    assert.equal(await page.getByText("subtasks\":").count(), 0);
    await turns(page).getByText("One step.").first().waitFor();
    await shoot(page, "copilot-plan");
    await page.goto(`/runs/${run}`);
    await page.locator("#open").getByText(PLAN.subtasks[0].description).first().waitFor();
    assert.equal(await page.getByText("subtasks\":").count(), 0);
    await page.goto(`/sessions/${session}`);
    await choose(page, "Approve");
    await waits(server, session, "tool_approval");
    await choose(page, "Approve");
  });

  await t.test("after a round the words are the turn, and its card ends the work", async () => {
    await turns(page).getByText("They are sorted.").first().waitFor();
    await waits(server, session, "turn");
    assert(existsSync(join(server.workspace, "sorted.txt")));
    await page.getByText(text("session.message.yours")).waitFor();
    await assertSound(page, "a copilot's turn", ALL);
    await shoot(page, "copilot-turn");
    await box(page).fill("And again, please.");
    await box(page).press("Enter");
    await turns(page).getByText("You said: And again, please.").waitFor();
    const turn = await waits(server, session, "turn");
    await page.locator(`article[data-interrupt="${turn.id}"]`).waitFor();
    await choose(page, "Done");
    await eventually("the run to end", async () => (await server.api("GET", `/v1/runs/${turn.run}`)).status === "completed");
    await page.getByText(text("session.message.how")).waitFor();
  });
});

test("words take the place of the answer to what was asked before a round", async (t) => {
  const server = await serveCopilot(t);
  const page = await person(t, server);
  const session = await openCopilot(server);
  await say(server, session, { text: "Put my notes in order." });
  const choice = await waits(server, session, "choice");
  await page.goto(`/sessions/${session}`);
  await page.locator(`article[data-interrupt="${choice.id}"]`).waitFor();
  await server.api("POST", `/v1/runs/${choice.run}/interrupt`, { text: "Leave them as they are." });
  await page.locator(`article[data-interrupt="${choice.id}"]`).waitFor({ state: "detached" });
  const { resolution } = await server.api("GET", `/v1/interrupts/${choice.id}`);
  assert.equal(resolution.outcome, "superseded");
  await waits(server, session, "plan_approval");
});

test("terminal and browser are in one conversation at once", async (t) => {
  const server = await serveCopilot(t);
  const page = await person(t, server);
  const session = await openCopilot(server);
  await page.goto(`/sessions/${session}`);
  const chat = await openChat(t, server, session);

  // A message from one client is shown once in the other.
  chat.type("Put my notes in order.\r");
  await turns(page).getByText("Put my notes in order.", { exact: true }).waitFor();
  const choice = await waits(server, session, "choice");
  await page.locator(`article[data-interrupt="${choice.id}"]`).waitFor();
  await chat.expect("d leave");

  // A decision in the browser closes the card in the terminal. It asks for confirmation unless the proposals were
  // shown.
  await card(page).getByRole("list", { name: text("card.proposals"), exact: true }).waitFor();
  await choose(page, "By day");
  const told = await chat.expect("Holding short: plan");
  assert(told.includes("No longer asked:") && told.includes("By day"), told);
  assert(!told.includes("subtasks"), told);
  await chat.expect("d leave");
  await chat.expect("\n> ");

  // A decision in the terminal closes the card in the browser.
  const plan = await waits(server, session, "plan_approval");
  await page.locator(`article[data-interrupt="${plan.id}"]`).waitFor();
  chat.type("approve\r");
  await page.locator(`article[data-interrupt="${plan.id}"]`).waitFor({ state: "detached" });
  const write = await waits(server, session, "tool_approval");
  await page.locator(`article[data-interrupt="${write.id}"]`).waitFor();
  await choose(page, "Approve");
  await chat.expect("They are sorted.");
  await turns(page).getByText("They are sorted.").first().waitFor();

  // A turn taken in one client is taken in both.
  await box(page).fill("And again, please.");
  await box(page).press("Enter");
  const said = await chat.expect("You said: And again, please.");
  assert(said.includes("operator │ And again, please."), said);
  await turns(page).getByText("You said: And again, please.").waitFor();
  await waits(server, session, "turn");
  await chat.expect("/done.");
  chat.type("/done\r");
  await chat.expect("✓ Done.");
  await page.getByText(text("session.message.how")).waitFor();
  await card(page).waitFor({ state: "detached" });
  assert.equal(await turns(page).getByText("Put my notes in order.", { exact: true }).count(), 1);
  assert.equal(await chat.leave(), 0);
});
