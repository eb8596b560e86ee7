// The end of work on a card: a rejected end, unfinished parts, and the progress and cost at a limit.
import test from "node:test";
import assert from "node:assert/strict";
import { person } from "./harness/browser.js";
import { card, choose, option, outcome, visitCard } from "./harness/card.js";
import { eventually } from "./harness/eventually.js";
import { serve } from "./harness/server.js";
import { t as text } from "./harness/texts.js";
import { assertSound } from "./harness/views.js";

const workflow = `
name: endings
agents:
  ada: {instructions: Work., tools: [list_directory], ends: finish}
  unlucky: {instructions: Fail., tools: []}
  tireless: {instructions: Go on., tools: [list_directory]}
phases:
  - {id: work, kind: one_shot, agent: ada, needs: [], gates: {after_step: ask}}
  - {id: fail, kind: one_shot, agent: unlucky, needs: [], gates: {on_error: ask}}
  - {id: go_on, kind: one_shot, agent: tireless, needs: [], limits: {rounds: 1}}
gates:
  rules:
    - {tools: [list_directory], do: allow}
limits: {attempts: 2, parallel: 3}
`;
const rehearsal = `
agents:
  ada:
    - text: I will look at it now.
    - text: I am about to look at it.
    - text: Now I have.
      calls:
        - {as: end, tool: finish, arguments: {summary: The table is written., undone: [the tests of the table, the second column]}}
  unlucky:
    - error: {kind: rejected, message: the provider says no}
    - text: Better.
  tireless:
    - text: Again.
      calls:
        - {as: look, tool: list_directory, arguments: {}}
    - text: Done.
`;

test("how work ends", async (t) => {
  const server = await serve(t, { workflows: { endings: { workflow, rehearsal } } });
  const config = { workspace: server.workspace, model: "rehearsal" };
  const { id } = await server.api("POST", "/v1/runs", { workflow: "endings", input: { task: "Write the table." }, config });
  const next = (kind, step) =>
    eventually(`${kind} of ${step} to wait`, async () => {
      const { items } = await server.api("GET", `/v1/interrupts?run=${id}&status=open`);
      return items.find((each) => each.kind === kind && each.step === step);
    });
  const page = await person(t, server);
  /** Returns the facts behind the numbers in the message. */
  const numbers = async () => {
    await card(page).getByText(text("card.facts"), { exact: true }).click();
    return card(page).getByRole("term").filter({ hasText: /^spent$/ }).locator("xpath=..");
  };

  await t.test("a reply that is no end is not taken for one: what is wrong with it, and the reply", async () => {
    const ending = await next("continuation", "work");
    await visitCard(page, ending);
    await card(page).getByText(ending.title.replaceAll("`", ""), { exact: true }).waitFor();
    await card(page).getByText(ending.message, { exact: true }).waitFor();
    // The agent's text is quoted.
    await card(page).locator("blockquote").getByText("I am about to look at it.").waitFor();
    await assertSound(page, "an end that is none");
    await choose(page, "Continue");
    await outcome(page, /Continue/).waitFor();
  });

  await t.test("the run tells that the agent was told before", async () => {
    await page.goto(`/runs/${id}`);
    await page.getByText(text("run.note.end_refused_not_finished", { agent: "ada" })).first().waitFor();
  });

  await t.test("what was left undone stands on the card of the end", async () => {
    const end = await next("checkpoint", "work");
    await visitCard(page, end);
    const said = card(page).locator("blockquote");
    await said.getByText(/The table is written/).waitFor();
    await said.getByText(/Left undone:\s+- the tests of the table\s+- the second column/).waitFor();
    await assertSound(page, "an end that left something undone");
  });

  await t.test("a failure says what was achieved and spent", async () => {
    const failed = await next("error", "fail");
    await visitCard(page, failed);
    await card(page).getByText(/So far: \d+ steps? done, .*, \d+ tokens/).waitFor();
    await (await numbers()).getByText("steps done", { exact: true }).waitFor();
    assert.equal(typeof failed.payload.spent.tokens, "number");
    await assertSound(page, "a failure with what was spent");
  });

  await t.test("so does a limit", async () => {
    const limit = await next("continuation", "go_on");
    await visitCard(page, limit);
    await card(page).getByText(/So far: .*1 call made/).waitFor();
    await (await numbers()).getByText("tokens", { exact: true }).waitFor();
    await assertSound(page, "a limit with what was spent");
  });

  await t.test("what ends the run says so beside its label, and asks once", async () => {
    const failed = await next("error", "fail");
    await visitCard(page, failed);
    const abort = failed.options.find(({ effect }) => effect === "fail_run");
    await option(page, abort.label).getByText(abort.does, { exact: true }).waitFor();
    await choose(page, abort.label);
    await page.getByRole("dialog").getByRole("button", { name: abort.label }).click();
    await outcome(page, new RegExp(abort.label)).waitFor();
    assert.equal((await server.api("GET", `/v1/runs/${id}`)).status, "failed");
  });
});
