// A power cut while pages are open: typed text is kept, and every event is shown exactly once.
import assert from "node:assert/strict";
import test from "node:test";
import { person } from "./harness/browser.js";
import { card, choose, inbox, option, outcome, visitCard, words } from "./harness/card.js";
import { holdsShort, serveDemo } from "./harness/demo.js";
import { eventually } from "./harness/eventually.js";
import { t as text } from "./harness/texts.js";

const banner = (page, key) => page.getByRole("status").filter({ hasText: text(key) });

test("the server is killed and starts again on the same data", async (t) => {
  const { server, id } = await serveDemo(t);
  const question = await holdsShort(server, id);
  await server.api("POST", `/v1/interrupts/${question.id}/decisions`, { option: "answer", text: "the period that begins" });
  const plan = await holdsShort(server, id);

  const list = await person(t, server);
  const [one, run] = [await list.context().newPage(), await list.context().newPage()];
  const pages = [list, one, run];
  await visitCard(one, plan);
  await words(one).pressSequentially("Do the peri");
  await run.goto(`/runs/${id}`);
  await words(run).pressSequentially("A note that is not sen");
  const message = run.getByRole("textbox", { name: text("run.message") });
  await message.fill("Please hur");

  await server.kill();
  await Promise.all(pages.map((page) => banner(page, "app.lost").waitFor()));
  assert.equal(await words(one).inputValue(), "Do the peri");
  // A person who sends now gets an error, and can send the same again.
  await choose(one, "Request another plan");
  await card(one).getByText(text("problem.unreachable")).waitFor();

  await server.start();
  const asked = await server.agentAsks({ kind: "question", title: "Are you back?" });
  await Promise.all(pages.map((page) => banner(page, "app.lost").waitFor({ state: "detached" })));
  await inbox(list).getByRole("link", { name: /Are you back\?/ }).waitFor();
  await inbox(one).getByRole("link", { name: /Are you back\?/ }).waitFor();

  await t.test("the run page has every event once", async () => {
    await server.api("POST", `/v1/runs/${id}/messages`, { text: "Here is one more." });
    await run.getByRole("tab", { name: text("run.timeline") }).click();
    const rows = run.getByRole("tabpanel").getByRole("row");
    const wanted = await eventsOf(server, id);
    assert(wanted.some(({ type }) => type === "adopted") || wanted.length > 20, "there is something to compare");
    const seen = await eventually("the whole timeline", async () => {
      const cells = await rows.locator("td:first-child").allTextContents();
      return cells.length >= wanted.length && cells.map(Number);
    });
    assert.deepEqual(seen, wanted.map(({ seq }) => seq));
    const types = await rows.locator("th[scope=row]").evaluateAll((cells) => cells.map((cell) => cell.title));
    assert.deepEqual(types, wanted.map(({ type }) => type));
  });

  await t.test("what was typed is still there, and can be sent", async () => {
    assert.equal(await message.inputValue(), "Please hur");
    assert.equal(await words(run).inputValue(), "A note that is not sen");
    assert.equal(await words(one).inputValue(), "Do the peri");
    await card(one).getByRole("button", { name: text("card.again.send") }).click();
    await outcome(one, /by operator/).waitFor();
    await card(one).getByText("Do the peri").last().waitFor();
    const decided = await server.api("GET", `/v1/interrupts/${plan.id}`);
    assert.deepEqual([decided.resolution.option, decided.resolution.text], ["revise", "Do the peri"]);
    await inbox(list).locator(`a[href="/inbox/${plan.id}"]`).waitFor({ state: "detached" });
    await message.press("Control+Enter");
    await run.getByRole("tab", { name: text("run.conversation") }).click();
    await run.getByRole("tabpanel").getByText("Please hur").waitFor();
    assert.equal(await message.inputValue(), "");
  });

  await visitCard(list, asked);
  await words(list).fill("Yes.");
  await choose(list, "Answer");
  await outcome(list, /answered.*by operator/).waitFor();
});

/** Returns all events of the run, page by page. */
async function eventsOf(server, id) {
  const all = [];
  for (let path = `/v1/runs/${id}/events?limit=200`; path; ) {
    const { items, next_cursor: next } = await server.api("GET", path);
    all.push(...items);
    path = next && `/v1/runs/${id}/events?limit=200&cursor=${encodeURIComponent(next)}`;
  }
  return all;
}
