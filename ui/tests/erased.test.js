// Erased content: the page, the cards and the timeline of the run report the erasure, and offer nothing that needs the
// content. Events after the end of the run are in its timeline.
import assert from "node:assert/strict";
import test from "node:test";
import { join } from "node:path";
import { existsSync } from "node:fs";
import { person } from "./harness/browser.js";
import { card } from "./harness/card.js";
import { eventually } from "./harness/eventually.js";
import { serve } from "./harness/server.js";
import { t as text } from "./harness/texts.js";
import { assertSound } from "./harness/views.js";

const workflow = `
name: writes
agents:
  guide: {instructions: Work., tools: [ask_human, write_file]}
phases:
  - {id: work, kind: one_shot, agent: guide}
gates:
  rules:
    - {tools: [ask_human, write_file], do: allow}
`;
const rehearsal = `
agents:
  guide:
    - text: A question first.
      calls:
        - {tool: ask_human, arguments: {question: "Where does Zebedee live?"}}
    - text: A file.
      calls:
        - {tool: write_file, arguments: {path: notes.txt, content: "Zebedee\\n"}}
    - text: Zebedee is written down.
`;

/** Starts a run that asks, changes a file and ends. */
async function ended(server) {
  const config = { workspace: server.workspace, model: "rehearsal" };
  const { id } = await server.api("POST", "/v1/runs", { workflow: "writes", input: { task: "Look for Zebedee." }, config });
  const question = await eventually("the question", async () => {
    const { items } = await server.api("GET", `/v1/interrupts?run=${id}&status=open`);
    return items[0];
  });
  await server.api("POST", `/v1/interrupts/${question.id}/decisions`, { option: "answer", text: "In Zebedee Lane." });
  await eventually("the run to end", async () => (await server.api("GET", `/v1/runs/${id}`)).status === "completed");
  assert(existsSync(join(server.workspace, "notes.txt")));
  return { id, question };
}

test("a run that is erased says so, by whom and when, and is not undone", async (t) => {
  const server = await serve(t, { workflows: { writes: { workflow, rehearsal } } });
  const { id, question } = await ended(server);
  const page = await person(t, server);
  await page.goto(`/runs/${id}`);
  await page.getByRole("button", { name: text("run.undo") }).waitFor();
  const end = () => page.locator("header dl > div").filter({ hasText: text("run.ended.at") }).textContent();
  const before = await end();

  await server.api("POST", `/v1/runs/${id}/hold`, { reason: "A case is open." });
  await server.api("DELETE", `/v1/runs/${id}/hold`);
  await server.api("POST", "/v1/erasures", { run: id });

  await page.goto(`/runs/${id}`);
  await page.getByText(`${text("run.erased")}.`, { exact: true }).waitFor();
  await page.getByText(/The content of this run was erased at .*, by operator\./).waitFor();
  assert.equal(await end(), before, "it ended where it ended");
  await page.getByText(text("run.erased.words")).first().waitFor();
  assert.equal(await page.getByRole("button", { name: text("run.undo") }).count(), 0, "nobody can take back what nobody knows");
  await assert.rejects(server.api("POST", `/v1/runs/${id}/undo`, {}), /was erased, so the changes can no longer be undone/);
  assert.equal(await page.getByText("Zebedee").count(), 0);
  await assertSound(page, "the page of a run that is erased");

  // Events after the end come last.
  await page.goto("/runs");
  await page.goto(`/runs/${id}#timeline`);
  for (const key of ["run_completed", "legal_hold_placed", "legal_hold_lifted", "content_erased"]) {
    await page.getByRole("rowheader", { name: text(`run.event.${key}`), exact: true }).first().waitFor();
  }
  await assertSound(page, "the timeline of a run that is erased");

  await page.goto("/runs");
  await page.getByText(text("run.erased.words")).first().waitFor();

  await page.goto(`/inbox/${question.id}`);
  await card(page).getByText(/^the content of the run, .* \(by operator\)$/).waitFor();
  assert.equal(await card(page).getByText("Zebedee").count(), 0);
  await assertSound(page, "a card that is erased");
});
