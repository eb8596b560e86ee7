// The page of a run shows the output of a command that is tried, and a person stops it there.
import assert from "node:assert/strict";
import test from "node:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { person } from "./harness/browser.js";
import { eventually } from "./harness/eventually.js";
import { serve } from "./harness/server.js";
import { shoot } from "./harness/shots.js";
import { t as text } from "./harness/texts.js";
import { assertSound } from "./harness/views.js";

const workflow = `
name: long
agents:
  guide: {instructions: Work., tools: [run_command]}
phases:
  - {id: work, kind: one_shot, agent: guide}
gates:
  trial: on
`;
const LINE = "echo new > made.txt; while true; do echo still at it; sleep 0.2; done";
const rehearsal = `
agents:
  guide:
    - text: This may take a while.
      calls:
        - {tool: run_command, arguments: {command: "${LINE}"}}
    - text: Then not.
`;

test("the output of a trial is seen as it comes, and the trial is stopped", async (t) => {
  const server = await serve(t, { workflows: { long: { workflow, rehearsal } } });
  const config = { workspace: server.workspace, model: "rehearsal" };
  const { id } = await server.api("POST", "/v1/runs", { workflow: "long", input: { task: "Try." }, config });

  const page = await person(t, server);
  await page.goto(`/runs/${id}`);
  await page.getByRole("group", { name: text("run.arriving.output") }).getByText("still at it").first().waitFor();
  await page.getByText(text("run.arriving.tried")).waitFor();
  await assertSound(page, "a command that is tried");
  await shoot(page, "tried");

  await page.getByRole("button", { name: text("run.stop"), exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(text("run.stop.tried")).waitFor();
  await dialog.getByRole("button", { name: text("run.stop.not") }).click();
  assert.equal((await server.api("GET", `/v1/runs/${id}`)).status, "running");
  await page.getByRole("button", { name: text("run.stop"), exact: true }).click();
  await dialog.getByLabel(text("run.stop.words")).fill("Once is enough.");
  await assertSound(page, "the question before a command is stopped");
  await dialog.getByRole("button", { name: text("run.stop.sure") }).click();

  await eventually("the run to go on", async () => (await server.api("GET", `/v1/runs/${id}`)).status === "completed");
  await page.getByText("Once is enough.").first().waitFor();
  await page.getByText(text("run.call.stopped"), { exact: true }).first().waitFor();
  await page.getByRole("button", { name: text("run.stop"), exact: true }).waitFor({ state: "detached" });
  assert.ok(!existsSync(join(server.workspace, "made.txt")), "it was only tried");
  // No file was changed, so there is nothing to undo.
  assert.equal(await page.getByRole("button", { name: text("run.undo") }).count(), 0);
  await assertSound(page, "the page of a run whose command was stopped");
});
