// A conversation in the browser, with a second client in the session and a server that goes away in between.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { person } from "./harness/browser.js";
import { card, choose } from "./harness/card.js";
import { box, clear, openIn, openTower, saidIn, say, serveTower, turns } from "./harness/conversation.js";
import { eventually } from "./harness/eventually.js";
import { shoot } from "./harness/shots.js";
import { t as text } from "./harness/texts.js";
import { serveTour } from "./harness/tour.js";
import { ALL, assertSound } from "./harness/views.js";

const button = (page, key) => page.getByRole("button", { name: text(key), exact: true });
const decide = (server, { id }, decision) => server.api("POST", `/v1/interrupts/${id}/decisions`, decision);
const waits = (server, session, kind) =>
  eventually(`${kind} to wait`, async () => {
    const open = await openIn(server, session);
    return open?.kind === kind && open;
  });

/** Selects messages of persons and agents, questions, answers and reasons. */
const WORDS = ".bubble > p:last-child, .said > p:last-child, .talk > .title, .answer > p:last-child, blockquote";

/** Asserts that the page shows every message of the session once and in order. Agents may write more in between. */
async function assertWhole(page, server, session) {
  const said = (await saidIn(server, session)).map((each) => each.text);
  let shown;
  await eventually("all that was said", async () => {
    shown = (await turns(page).locator(WORDS).allTextContents()).map((each) => each.trim()).filter((each) => said.includes(each));
    return shown.length === said.length;
  }).catch(() => undefined);
  assert.deepEqual(shown, said);
}

test("a conversation, from its first words on", async (t) => {
  const server = await serveTower(t);
  const page = await person(t, server);
  await page.getByRole("link", { name: text("nav.sessions") }).click();
  await page.getByText(text("sessions.empty")).waitFor();
  await assertSound(page, "no conversations");
  await page.getByRole("link", { name: text("sessions.new") }).click();
  await page.getByLabel(text("new.workflow"), { exact: true }).selectOption("tower");
  await page.getByLabel(new RegExp(`^${text("new.workspace")}`)).fill("not/absolute");
  await button(page, "session.begin.send").click();
  await page.locator("#new-workspace:focus[aria-invalid=true]").waitFor();
  await assertSound(page, "a new conversation");
  await page.getByLabel(new RegExp(`^${text("new.workspace")}`)).fill(server.workspace);
  await page.getByLabel(text("new.model")).fill("rehearsal");
  await button(page, "session.begin.send").click();
  await page.getByText(text("session.empty")).waitFor();
  const session = new URL(page.url()).pathname.split("/").at(-1);

  await t.test("Shift+Enter begins a line, Enter sends", async () => {
    await box(page).and(page.locator(":focus")).waitFor();
    await page.keyboard.type("Note the wind.");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("Then <b>wait</b>.");
    await page.keyboard.press("Enter");
    await turns(page).getByText("Then <b>wait</b>.").waitFor();
    assert.equal(await box(page).inputValue(), "");
    assert.equal((await saidIn(server, session))[0].text, "Note the wind.\nThen <b>wait</b>.");
  });

  await t.test("a question is answered on its card, where it arose", async () => {
    await turns(page).locator(".dots, code").filter({ hasText: "list_directory" }).first().waitFor();
    await card(page).getByText("Which way is the wind?").waitFor();
    await page.getByText(text("session.message.question")).waitFor();
    await assertSound(page, "a question in a conversation", ALL);
    await card(page).getByLabel("from the north").check();
    await choose(page, "Answer");
    await turns(page).getByText("from the north", { exact: true }).first().waitFor();
  });

  const change = await waits(server, session, "tool_approval");
  await t.test("a draft and the card outlive a reload and a server that is killed", async () => {
    await card(page).getByText("wind.txt").first().waitFor();
    await box(page).fill("Hurry");
    await page.reload();
    await card(page).getByText("wind.txt").first().waitFor();
    assert.equal(await box(page).inputValue(), "Hurry");
    await server.kill();
    await page.getByRole("status").filter({ hasText: text("app.lost") }).waitFor();
    await box(page).press("Enter");
    await page.getByRole("alert").getByText(text("problem.unreachable")).waitFor();
    assert.equal(await box(page).inputValue(), "Hurry");
    await server.start();
    await page.getByRole("status").filter({ hasText: text("app.lost") }).waitFor({ state: "detached" });
    await box(page).press("Enter");
    await turns(page).getByText("Hurry", { exact: true }).waitFor();
    await page.getByRole("alert").waitFor({ state: "detached" });
    await assertWhole(page, server, session);
  });

  await t.test("a card that another client resolves says who, and gives its place back", async () => {
    await decide(server, change, { option: "approve" });
    await turns(page).getByText(/approved by operator via API/).waitFor();
    await card(page).waitFor({ state: "detached" });
    assert.equal(readFileSync(join(server.workspace, "wind.txt"), "utf8"), "from the north\n");
  });

  await t.test("while the agent works, what it prints is seen, and everybody can speak", async () => {
    await turns(page).getByLabel(text("run.arriving.output")).getByText("listening").waitFor();
    await say(server, session, { text: "Said elsewhere." });
    await turns(page).getByText("Said elsewhere.").waitFor();
    // The answer to the request is lost. A retry delivers the message once.
    await page.route("**/messages", async (route) => {
      await route.fetch();
      await route.abort();
    }, { times: 1 });
    await box(page).fill("And now?");
    await box(page).press("Enter");
    await page.getByRole("alert").waitFor();
    assert.equal(await box(page).inputValue(), "And now?");
    await page.reload();
    await turns(page).getByText("And now?", { exact: true }).waitFor();
    await box(page).press("Enter");
    await eventually("the box to be empty", async () => (await box(page).inputValue()) === "");
    await assertWhole(page, server, session);
    assert.equal((await saidIn(server, session)).filter((each) => each.text === "And now?").length, 1);
    await assertSound(page, "an agent at work", ALL);
  });

  await t.test("it is interrupted, spoken to, and goes on", async () => {
    await button(page, "run.interrupt").click();
    await page.locator("form:has(#message) button.go").waitFor();
    await page.getByText(text("run.message.turn")).waitFor();
    await assertSound(page, "an agent that was interrupted", ALL);
    // The run waits only for a message, not for its interrupted call.
    await button(page, "run.interrupt").waitFor({ state: "detached" });
    assert.equal((await openIn(server, session)).position, "interruption");
    await page.locator("form:has(#message) button.go").click();
    await eventually("it listens once more", async () => (await turns(page).getByRole("button", { name: /sh listen\.sh/ }).count()) === 2);
    await turns(page).getByLabel(text("run.arriving.output")).getByText("listening").waitFor();
    await button(page, "run.interrupt").click();
    await page.getByText(text("run.message.turn")).waitFor();
    clear(server);
    await box(page).fill("Now go on.");
    await box(page).press("Enter");
    await turns(page).getByText("Now go on.").first().waitFor();
    await turns(page).getByText("The wind is from the north, and the tower has cleared us.").waitFor();
    await assertWhole(page, server, session);
  });

  await t.test("a call is one line, and all of it on a click", async () => {
    assert.equal(await turns(page).getByText("the tower has cleared us", { exact: true }).count(), 0);
    await turns(page).getByRole("button", { name: /sh listen\.sh/ }).last().click();
    await turns(page).getByText(/^listening\s+the tower has cleared us\s/).waitFor();
    await turns(page).getByRole("button", { name: /wind\.txt/ }).click();
    await turns(page).getByRole("figure", { name: /wind\.txt/ }).waitFor();
    await assertSound(page, "a conversation that rests", ALL);
  });

  await t.test("the next words begin the next run; its question is answered by another client", async () => {
    await box(page).fill("Once more.");
    await box(page).press("Enter");
    const question = await waits(server, session, "question");
    await card(page).getByText("Which way is the wind?").waitFor();
    await say(server, session, { text: "from the south", to: question.id });
    await turns(page).getByText("from the south", { exact: true }).last().waitFor();
    await decide(server, await waits(server, session, "tool_approval"), { option: "reject", text: "It is noted already." });
    await turns(page).getByText("It is noted already.").last().waitFor();
    await turns(page).getByText("The wind is from the south, and the tower has cleared us.").waitFor();
    await assertWhole(page, server, session);
  });

  await t.test("a run that begins while the page is away is there when it is back", async () => {
    await server.restart();
    await say(server, session, { text: "Said while you were away." });
    const question = await waits(server, session, "question");
    await turns(page).getByText("Said while you were away.").waitFor();
    await page.locator(`article[data-interrupt="${question.id}"]`).waitFor();
    await server.api("POST", `/v1/runs/${question.run}/cancel`);
    await turns(page).getByText(/cancelled by operator via API/).waitFor();
    await assertWhole(page, server, session);
  });

  await t.test("it stands in the list, and a run leads to it", async () => {
    await page.goto("/sessions");
    await page.getByRole("main").getByRole("link", { name: "Said while you were away." }).waitFor();
    await assertSound(page, "the conversations");
    const { front_run: run } = await server.api("GET", `/v1/sessions/${session}`);
    await page.goto(`/runs/${run}`);
    await page.getByRole("link", { name: text("run.session.open") }).click();
    await turns(page).getByText("Said elsewhere.").waitFor();
  });

  await t.test("what is refused says why, and keeps the words", async () => {
    await server.api("POST", `/v1/sessions/${session}/suspend`);
    await page.getByText(text("session.message.suspended")).waitFor();
    await box(page).fill("Is anybody there?");
    await box(page).press("Enter");
    await page.getByRole("alert").getByText("session_suspended").waitFor();
    assert.equal(await box(page).inputValue(), "Is anybody there?");
    await button(page, "session.resume.all").click();
    await page.getByText(text("session.message.how")).waitFor();
    await server.api("POST", `/v1/sessions/${session}/close`);
    await page.getByText(text("session.message.closed")).waitFor();
    assert(await box(page).isDisabled());
  });
});

test("the page of a run interrupts it as the conversation does", async (t) => {
  const server = await serveTower(t);
  const page = await person(t, server);
  const session = await openTower(server);
  await say(server, session, { text: "Note the wind." });
  const question = await waits(server, session, "question");
  await page.goto(`/runs/${question.run}`);
  await page.locator(`article[data-interrupt="${question.id}"]`).waitFor();
  assert.equal(await button(page, "run.interrupt").count(), 0, "nothing is at work");
  await decide(server, question, { option: "answer", text: "from the north" });
  await decide(server, await waits(server, session, "tool_approval"), { option: "approve" });
  await page.getByLabel(text("run.arriving.output")).getByText("listening").waitFor();
  await assertSound(page, "a run at work", ALL);
  await shoot(page, "run-at-work");
  await button(page, "run.interrupt").click();
  await waits(server, session, "turn");
  await button(page, "run.interrupt").waitFor({ state: "detached" });
  await page.getByText(text("run.message.turn")).waitFor();
  clear(server);
  const message = page.getByRole("textbox", { name: text("run.message"), exact: true });
  await message.fill("Now go on.");
  await message.press("Control+Enter");
  await page.getByText("The wind is from the north, and the tower has cleared us.").first().waitFor();
  // The text arrives before the run's end.
  await button(page, "run.interrupt").waitFor({ state: "detached" });
});

test("keys decide on the card that is seen, and only one is", async (t) => {
  const server = await serveTower(t);
  const page = await person(t, server);
  const session = await openTower(server);
  await say(server, session, { text: "Note the wind." });
  await page.goto(`/sessions/${session}`);
  await card(page).getByText("Which way is the wind?").waitFor();
  await page.keyboard.press("i");
  await page.keyboard.type("from the south");
  await page.keyboard.press("Control+Enter");
  await card(page).getByText("wind.txt").first().waitFor();
  await page.keyboard.press("a");
  await turns(page).getByLabel(text("run.arriving.output")).getByText("listening").waitFor();
  // The output may arrive before the answer to the decision.
  await card(page).waitFor({ state: "detached" });
  await page.keyboard.press("i");
  await box(page).and(page.locator(":focus")).waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await box(page).and(page.locator(":focus")).count(), 0);
  clear(server);
  await turns(page).getByText("The wind is from the south, and the tower has cleared us.").waitFor();
  // An unknown id, and a session that accepts no messages.
  await page.goto(`/sessions/ses_${"0".repeat(26)}`);
  await page.getByRole("heading", { level: 1, name: text("session.nowhere") }).waitFor();
  const { session: silent } = await server.agentStarts();
  await page.goto(`/sessions/${silent}`);
  await page.getByText(text("session.message.mute")).waitFor();
});

test("of many that wait one is a card, and each stands where it arose", async (t) => {
  const { server, id, open } = await serveTour(t);
  const page = await person(t, server);
  const { session } = await server.api("GET", `/v1/runs/${id}`);
  await page.goto(`/sessions/${session}`);
  const lines = turns(page).locator("button[aria-pressed=false]");
  await eventually("all of them", async () => (await lines.count()) === open.length - 1);
  await eventually("one card", async () => (await card(page).count()) === 1);
  await assertSound(page, "many that wait", ALL);
  await lines.filter({ hasText: "runway.txt" }).click();
  await card(page).getByText("heading 09").first().waitFor();
  await eventually("one card", async () => (await card(page).count()) === 1);
  assert.equal(await lines.count(), open.length - 1);
  const shown = await card(page).getAttribute("data-interrupt");
  await page.keyboard.press("a");
  await turns(page).getByText(/approved by operator via web/).waitFor();
  const resolved = await Promise.all(open.map(({ id: each }) => server.api("GET", `/v1/interrupts/${each}`)));
  assert.deepEqual(resolved.filter(({ status }) => status === "resolved").map(({ id: each }) => each), [shown]);
});
