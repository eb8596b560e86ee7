// Undo from the page of a run: its card shows the files that are restored and those that are left unchanged.
import assert from "node:assert/strict";
import test from "node:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { person } from "./harness/browser.js";
import { card, choose, outcome, visitCard } from "./harness/card.js";
import { eventually } from "./harness/eventually.js";
import { serve } from "./harness/server.js";
import { shoot } from "./harness/shots.js";
import { t as text } from "./harness/texts.js";
import { assertSound } from "./harness/views.js";

const workflow = `
name: writes
agents:
  guide: {instructions: Work., tools: [write_file]}
phases:
  - {id: work, kind: one_shot, agent: guide}
gates:
  rules:
    - {tools: [write_file], do: allow}
`;
const rehearsal = `
agents:
  guide:
    - text: Two files.
      calls:
        - {tool: write_file, arguments: {path: notes/one.txt, content: "one\\n"}}
        - {tool: write_file, arguments: {path: two.txt, content: "new\\n"}}
        - {tool: write_file, arguments: {path: three.txt, content: "new\\n"}}
    - text: Done.
`;

test("what a run changed is taken back from its page", async (t) => {
  const server = await serve(t, { workflows: { writes: { workflow, rehearsal } } });
  const at = (path) => join(server.workspace, path);
  for (const name of ["two.txt", "three.txt"]) writeFileSync(at(name), "old\n");
  const config = { workspace: server.workspace, model: "rehearsal" };
  const { id } = await server.api("POST", "/v1/runs", { workflow: "writes", input: { task: "Write." }, config });
  await eventually("the run to end", async () => (await server.api("GET", `/v1/runs/${id}`)).status === "completed");
  writeFileSync(at("two.txt"), "mine\n");

  const page = await person(t, server);
  await page.goto(`/runs/${id}`);
  await page.getByRole("button", { name: text("run.undo") }).click();
  await page.getByRole("heading", { level: 1, name: "Undo: Write." }).waitFor();
  await assertSound(page, "the page of an undo");
  await page.getByText("undo_changes").first().waitFor();
  const undo = page.url().split("/").pop();
  const asked = await eventually("the undo to ask", async () => {
    const { items } = await server.api("GET", `/v1/interrupts?run=${undo}&status=open`);
    return items[0];
  });

  await visitCard(page, asked);
  const trial = card(page).getByRole("group", { name: text("trial.undo.title") });
  await trial.getByText("1 file changed, 1 deleted").waitFor();
  const note = card(page).getByText(asked.payload.note).filter({ visible: true });
  await note.waitFor();
  await trial.getByRole("figure", { name: text("card.diff.title", { path: "three.txt" }) }).waitFor();
  await trial.getByText(`two.txt ${text("trial.left.changed_since")}`).waitFor();
  await assertSound(page, "the card of an undo");
  await shoot(page, "undo", { fullPage: true });

  assert.equal(readFileSync(at("three.txt"), "utf8"), "new\n", "nothing has happened yet");
  await choose(page, "Undo the changes");
  const listed = (key) => page.getByRole("dialog").locator("section").filter({ hasText: text(key) }).getByRole("listitem").allTextContents();
  await page.getByRole("dialog").getByText(text("trial.affected.undone")).waitFor();
  assert.deepEqual((await listed("trial.affected.undone")).map((each) => each.trim()), ["deleted notes/one.txt", "deleted notes directory", "changed three.txt"]);
  assert.deepEqual((await listed("trial.affected.left")).map((each) => each.trim()), ["two.txt"]);
  await assertSound(page, "what an undo takes back");
  await shoot(page, "undo-sure");
  await page.getByRole("dialog").getByRole("button", { name: "Undo the changes" }).click();
  await outcome(page, /approved/).waitFor();
  assert.equal(await note.count(), 0, "it has been decided");
  // The files are written one after the other.
  await eventually("the files to be as before", () => !existsSync(at("notes")) && readFileSync(at("three.txt"), "utf8") === "old\n");
  assert.equal(readFileSync(at("two.txt"), "utf8"), "mine\n");

  await page.goto(`/runs/${undo}`);
  await page.getByText("Left unchanged: two.txt.").first().waitFor();
  await assertSound(page, "the page of an undo that has ended");
  await shoot(page, "undo-run");

  // No change is left to undo, and the page reports that.
  await page.goto(`/runs/${id}`);
  await page.getByRole("button", { name: text("run.undo") }).click();
  await page.getByRole("heading", { level: 1, name: "Undo: Write." }).waitFor();
  await page.getByText("None of the changes of").first().waitFor();
  // The run did not fail.
  await page.getByText(text("status.completed"), { exact: true }).first().waitFor();
});

test("what was taken back already is refused where it is asked for, and many files are counted", async (t) => {
  const calls = Array.from({ length: 25 }, (_, n) => `        - {tool: write_file, arguments: {path: "file${n + 10}.txt", content: "new\\n"}}`);
  const many = `
agents:
  guide:
    - text: Many files.
      calls:
${calls.join("\n")}
    - text: Done.
`;
  const server = await serve(t, { workflows: { writes: { workflow, rehearsal: many } } });
  const config = { workspace: server.workspace, model: "rehearsal" };
  const { id } = await server.api("POST", "/v1/runs", { workflow: "writes", input: { task: "Write." }, config });
  await eventually("the run to end", async () => (await server.api("GET", `/v1/runs/${id}`)).status === "completed");
  const page = await person(t, server);
  await page.goto(`/runs/${id}`);
  await page.getByRole("button", { name: text("run.undo") }).click();
  await page.getByRole("heading", { level: 1, name: "Undo: Write." }).waitFor();
  await choose(page, "Undo some of them");
  const boxes = card(page).getByRole("group", { name: text("trial.keep") });
  await boxes.getByRole("button", { name: text("trial.keep.none") }).click();
  await boxes.getByRole("checkbox", { name: "file10.txt" }).check();
  await choose(page, "Undo some of them");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("file11.txt").waitFor();
  await dialog.getByText("file30.txt").waitFor();
  await dialog.getByText(text("trial.affected.more", { n: 4 })).waitFor();
  // The buttons of a long dialog stay visible.
  await page.setViewportSize({ width: 390, height: 600 });
  assert(await dialog.evaluate((all) => all.scrollHeight > all.clientHeight), "the dialog is longer than its window");
  for (const name of ["Undo some of them", text("card.confirm.back")]) {
    const { y, height } = await dialog.getByRole("button", { name }).boundingBox();
    assert(y >= 0 && y + height <= 600, `${name}: out of sight`);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  await dialog.getByRole("button", { name: text("card.confirm.back") }).click();
  await page.getByRole("button", { name: text("card.edit.back"), exact: true }).click();
  await choose(page, "Undo the changes");
  await dialog.getByText(text("trial.affected.more", { n: 5 })).waitFor();
  await dialog.getByRole("button", { name: "Undo the changes" }).click();
  await eventually("the files to be gone", () => !existsSync(join(server.workspace, "file34.txt")));

  await page.goto(`/runs/${id}`);
  const { items: before } = await server.api("GET", "/v1/runs?limit=200");
  await page.getByRole("button", { name: text("run.undo") }).click();
  await page.getByRole("alert").getByText("already undone").waitFor();
  assert.equal(new URL(page.url()).pathname, `/runs/${id}`);
  assert.equal((await server.api("GET", "/v1/runs?limit=200")).items.length, before.length);
});
