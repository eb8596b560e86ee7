// New ignored files of a command stay with the run until a person merges them from its page.
import assert from "node:assert/strict";
import test from "node:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { person } from "./harness/browser.js";
import { card, choose, outcome, visitCard } from "./harness/card.js";
import { eventually } from "./harness/eventually.js";
import { serve } from "./harness/server.js";
import { shoot } from "./harness/shots.js";
import { t as text } from "./harness/texts.js";
import { assertSound } from "./harness/views.js";

const workflow = `
name: builds
agents:
  guide: {instructions: Work., tools: [run_command]}
phases:
  - {id: work, kind: one_shot, agent: guide}
gates:
  trial: on
  rules:
    - {tools: [run_command], changes: ignored, do: allow}
`;
const rehearsal = `
agents:
  guide:
    - text: Build it.
      calls:
        - {tool: run_command, arguments: {command: "mkdir dist && echo 1 > dist/app.js && echo 2 > dist/app.css"}}
    - text: Done.
`;

const merge = (page, n) => page.getByRole("button", { name: n === 1 ? text("run.merge.one") : text("run.merge", { n }), exact: true });

test("ignored files of a run are merged from its page, or not at all", async (t) => {
  const server = await serve(t, { workflows: { builds: { workflow, rehearsal } } });
  const at = (path) => join(server.workspace, path);
  mkdirSync(at(".git"));
  writeFileSync(at(".gitignore"), "dist/\n");
  const config = { workspace: server.workspace, model: "rehearsal" };
  const { id } = await server.api("POST", "/v1/runs", { workflow: "builds", input: { task: "Build." }, config });
  const ended = (run) => eventually(`${run} to end`, async () => (await server.api("GET", `/v1/runs/${run}`)).status === "completed");
  await ended(id);
  assert(!existsSync(at("dist")), "the run alone has them");

  const page = await person(t, server);
  /** Begins a merge and opens its card. Returns the run. */
  const begin = async (n) => {
    await page.goto(`/runs/${id}`);
    await merge(page, n).click();
    await page.getByRole("heading", { level: 1, name: "Merge: Build." }).waitFor();
    const run = page.url().split("/").pop();
    const asked = await eventually("the merge to ask", async () => (await server.api("GET", `/v1/interrupts?run=${run}&status=open`)).items[0]);
    await visitCard(page, asked);
    await card(page).getByText(asked.payload.note).filter({ visible: true }).waitFor();
    return run;
  };
  const trial = card(page).getByRole("group", { name: text("trial.merge.title") });

  await t.test("its card shows what the workspace gets, and leaves it all with the run", async () => {
    await page.goto(`/runs/${id}`);
    await merge(page, 2).waitFor();
    await assertSound(page, "a run with ignored files");
    await shoot(page, "merge-run");
    const run = await begin(2);
    await trial.getByRole("figure", { name: text("card.diff.title", { path: "dist/app.js" }) }).waitFor();
    await assertSound(page, "the card of a merge");
    await shoot(page, "merge", { fullPage: true });
    await choose(page, "Leave them with the run");
    await outcome(page, /rejected/).waitFor();
    await ended(run);
    assert(!existsSync(at("dist")), "nothing is merged");
  });

  await t.test("some of them", async () => {
    const run = await begin(2);
    await choose(page, "Merge some of them");
    const boxes = card(page).getByRole("group", { name: text("trial.keep") });
    await boxes.getByText(text("trial.merge.rest")).waitFor();
    await boxes.getByRole("checkbox", { name: "dist/app.css" }).uncheck();
    await choose(page, "Merge some of them");
    const dialog = page.getByRole("dialog");
    const rest = dialog.locator("section").filter({ hasText: text("trial.affected.unmerged") }).getByRole("listitem");
    await rest.first().waitFor();
    assert.deepEqual((await rest.allTextContents()).map((each) => each.trim()), ["created dist/app.css"]);
    await shoot(page, "merge-some");
    await dialog.getByRole("button", { name: "Merge some of them" }).click();
    await ended(run);
    assert.equal(readFileSync(at("dist/app.js"), "utf8"), "1\n");
    assert(!existsSync(at("dist/app.css")), "it is left with the run");
  });

  await t.test("the last of them, and no button is left", async () => {
    const run = await begin(1);
    await choose(page, "Merge the files");
    await page.getByRole("dialog").getByRole("button", { name: "Merge the files" }).click();
    await ended(run);
    assert.equal(readFileSync(at("dist/app.css"), "utf8"), "2\n");
    const counted = page.waitForResponse((response) => response.url().endsWith(`/v1/runs/${id}/layer`));
    await page.goto(`/runs/${id}`);
    assert.deepEqual(await (await counted).json(), { files: 0 });
    assert.equal(await page.getByRole("button", { name: /^Merge/ }).count(), 0);
  });
});
