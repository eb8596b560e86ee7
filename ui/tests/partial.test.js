// A run that completed with unfinished work shows so everywhere, in the colour of waiting items.
import assert from "node:assert/strict";
import test from "node:test";
import { person } from "./harness/browser.js";
import { eventually } from "./harness/eventually.js";
import { serve } from "./harness/server.js";
import { t as text } from "./harness/texts.js";
import { assertSound } from "./harness/views.js";

const workflow = `
name: half
agents:
  ada: {instructions: Work., tools: [], ends: finish}
phases:
  - {id: work, kind: one_shot, agent: ada}
`;
const rehearsal = `
agents:
  ada:
    - text: Now I have.
      calls:
        - {as: end, tool: finish, arguments: {summary: The table is written., undone: [the second column]}}
`;

test("a partial run", async (t) => {
  const server = await serve(t, { workflows: { half: { workflow, rehearsal } } });
  const config = { workspace: server.workspace, model: "rehearsal" };
  const { id } = await server.api("POST", "/v1/runs", { workflow: "half", input: { task: "Write the table." }, config });
  const run = await eventually("the run to end", async () => {
    const run = await server.api("GET", `/v1/runs/${id}`);
    return run.status === "completed" && run;
  });
  assert.equal(run.end_reason, "partial");
  const page = await person(t, server);
  const amber = () => page.evaluate(() => {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.color = "var(--hold)";
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  });

  await t.test("its page and the list say partial, never completed", async () => {
    for (const path of [`/runs/${id}`, "/runs"]) {
      await page.goto(path);
      const pill = page.getByRole("main").getByText(text("status.partial"), { exact: true }).first();
      await pill.waitFor();
      assert.match(await pill.getAttribute("class"), /\bhold\b/);
      assert.equal(await page.getByRole("main").getByText(text("status.completed"), { exact: true }).and(page.locator("span, p")).count(), 0);
    }
    await page.goto(`/runs/${id}`);
    const result = page.getByRole("region", { name: text("run.result") });
    assert.equal(await result.evaluate((section) => getComputedStyle(section).borderLeftColor), await amber());
    await assertSound(page, "a partial run");
  });

  await t.test("nothing floats over a run that has ended", async () => {
    await page.goto("/runs");
    await page.goto(`/runs/${id}#timeline`);
    await page.getByRole("rowheader", { name: text("run.event.run_completed") }).waitFor();
    await page.setViewportSize({ width: 1280, height: 320 });
    await page.evaluate(() => scrollTo(0, 0));
    // The page continues below, so there is a place to jump to.
    assert(await page.evaluate(() => document.documentElement.scrollHeight > innerHeight + 200));
    assert.equal(await page.getByRole("button", { name: text("run.newest") }).count(), 0);
  });

  await t.test("the filters of its timeline stand in one line", async () => {
    const [find, type] = await Promise.all(
      ["run.timeline.find", "run.timeline.type"].map((key) => page.getByLabel(text(key), { exact: true }).first().boundingBox()),
    );
    assert.deepEqual([find.y, find.height], [type.y, type.height]);
  });
});
