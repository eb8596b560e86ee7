// The page of a run and that of its session list refused calls, and a person takes a refusal back.
import assert from "node:assert/strict";
import test from "node:test";
import { person } from "./harness/browser.js";
import { choose, outcome, visitCard } from "./harness/card.js";
import { eventually } from "./harness/eventually.js";
import { serve } from "./harness/server.js";
import { shoot } from "./harness/shots.js";
import { t as text } from "./harness/texts.js";
import { assertSound } from "./harness/views.js";

const workflow = `
name: touches
agents:
  guide: {instructions: Work., tools: [run_command]}
phases:
  - {id: work, kind: one_shot, agent: guide}
`;
const LINES = ["touch A", "touch B", "touch ./A"];
const calls = LINES.map((line) => `    - text: Go on.\n      calls:\n        - {tool: run_command, arguments: {command: "${line}"}}`);
const rehearsal = `agents:\n  guide:\n${calls.join("\n")}\n    - text: Done.\n`;

test("a refused call asks again until a person takes the refusal back", async (t) => {
  const server = await serve(t, { workflows: { touches: { workflow, rehearsal } } });
  const config = { workspace: server.workspace, model: "rehearsal" };
  const start = (session) => server.api("POST", "/v1/runs", { workflow: "touches", input: { task: "Touch." }, session, config });
  const asked = (run, line) =>
    eventually(`${line} to be asked about`, async () => {
      const { items } = await server.api("GET", `/v1/interrupts?run=${run}&status=open`);
      return items.find((each) => each.payload.arguments.command === line);
    });
  const page = await person(t, server);
  const { id, session } = await start();
  const list = page.getByRole("list", { name: text("refusals.list") });
  const summary = page.getByText(text("refusals.title.one"), { exact: true });

  const refuse = await asked(id, LINES[0]);
  await visitCard(page, refuse);
  await choose(page, "Reject");
  await outcome(page, /rejected/).waitFor();
  const grant = await asked(id, LINES[1]);
  await server.api("POST", `/v1/interrupts/${grant.id}/decisions`, { option: "approve_session" });
  const again = await asked(id, LINES[2]);
  assert.equal(again.risk.reasons[0].code, "refused_before");

  for (const place of [`/sessions/${session}`, `/runs/${id}`]) {
    await page.goto(place);
    await summary.click();
    await list.getByText("touch").first().waitFor();
    await list.getByText(text("refusals.by", { who: "operator" })).waitFor();
    await assertSound(page, `refusals at ${place}`);
    await shoot(page, place.startsWith("/runs") ? "refusals-run" : "refusals-session", { fullPage: true });
  }
  await list.getByRole("button").click();
  const dialog = page.getByRole("dialog", { name: text("refusals.back.title") });
  await assertSound(page, "the question whether a refusal is taken back");
  await shoot(page, "refusals-back");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  const standing = async () =>
    (await server.api("GET", `/v1/sessions/${session}/refusals`)).items.filter((each) => !each.revoked_at).map((each) => each.interrupt);
  assert.deepEqual(await standing(), [refuse.id], "nobody said yes");
  await list.getByRole("button").click();
  await dialog.getByRole("button", { name: text("grants.back.sure") }).click();
  await list.waitFor({ state: "detached" });
  assert.deepEqual(await standing(), []);

  // The open interrupt stays open; the grant covers later calls.
  await server.api("POST", `/v1/interrupts/${again.id}/decisions`, { option: "approve" });
  const next = await start(session);
  await eventually("the next run to ask nobody", async () => (await server.api("GET", `/v1/runs/${next.id}`)).status === "completed");
});
