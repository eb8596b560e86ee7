// The card of a command: what the machine will let it do, and the files that it runs.
import test from "node:test";
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { person } from "./harness/browser.js";
import { card, option, outcome, visitCard } from "./harness/card.js";
import { eventually } from "./harness/eventually.js";
import { serve } from "./harness/server.js";
import { t as text } from "./harness/texts.js";
import { assertSound } from "./harness/views.js";

const workflow = `
name: commands
agents:
  guide: {instructions: Work., tools: [run_command]}
phases:
  - {id: work, kind: one_shot, agent: guide}
`;
const call = (as, command) => `        - {as: ${as}, tool: run_command, arguments: {command: "${command}"}}`;
const rehearsal = `
agents:
  guide:
    - text: First this.
      calls:
${call("first", "touch one.txt")}
    - text: Then these.
      calls:
${call("run", "sh tools/pack.sh")}
    - text: Done.
`;

test("the card of a command", async (t) => {
  const server = await serve(t, { workflows: { commands: { workflow, rehearsal } } });
  mkdirSync(join(server.workspace, "tools"));
  writeFileSync(join(server.workspace, "tools/pack.sh"), "echo packing\n");
  const config = { workspace: server.workspace, model: "rehearsal" };
  const { id } = await server.api("POST", "/v1/runs", { workflow: "commands", input: { task: "Pack it." }, config });
  const next = (command) =>
    eventually(`${command} to be asked about`, async () => {
      const { items } = await server.api("GET", `/v1/interrupts?run=${id}&status=open`);
      return items.find((each) => each.payload.command === command);
    });
  const page = await person(t, server);
  const fact = (name) => card(page).getByRole("term").filter({ hasText: name }).locator("xpath=..").getByRole("definition");

  await t.test("what it may do", async () => {
    const first = await next("touch one.txt");
    assert.equal(first.payload.effect, "workspace");
    await visitCard(page, first);
    assert.equal(await fact(text("card.does")).innerText(), text("card.does.workspace"));
    await option(page, "Allow once").click();
    await outcome(page, /approved/).waitFor();
  });

  await t.test("the file that it runs can be read", async () => {
    const run = await next("sh tools/pack.sh");
    await visitCard(page, run);
    const script = card(page).getByRole("group").filter({ hasText: text("card.script") });
    assert.equal(await script.getByText("echo packing").isVisible(), false);
    await script.getByText("tools/pack.sh").click();
    await script.getByText("echo packing").waitFor();
    await assertSound(page, "a script on a card");
    await option(page, "Allow once").click();
    await outcome(page, /approved/).waitFor();
  });
});
