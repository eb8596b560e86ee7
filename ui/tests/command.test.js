// The card of a command shows its effect, its script files, the scope of a grant, and the calls before it.
import test from "node:test";
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { person } from "./harness/browser.js";
import { card, choose, outcome, shown, visitCard } from "./harness/card.js";
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
    - text: And this.
      calls:
${call("three", "touch three.txt")}
    - text: Then three more.
      calls:
${call("four", "touch four.txt")}
    - text: At the end two that depend on each other.
      calls:
${call("again", "touch two.txt")}
${call("behind", "mkdir out")}
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
    // The server's words, which the terminal and the linked pages also use.
    assert.equal(first.command_effect.text, "write the workspace, except files that your own tools run automatically");
    assert.equal(await fact("Effect").innerText(), first.command_effect.text);
    await choose(page, "Approve");
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
    await choose(page, "Approve");
    await outcome(page, /approved/).waitFor();
  });

  await t.test("what a grant would cover, in words, and the latest three of this run that it would have covered", async () => {
    for (const line of ["touch three.txt", "touch four.txt"]) {
      await server.api("POST", `/v1/interrupts/${(await next(line)).id}/decisions`, { option: "approve" });
    }
    const again = await next("touch two.txt");
    const { words, past } = again.payload.grant;
    assert.match(words, /`touch`/);
    assert.equal(past.length, 3);
    await visitCard(page, again);
    // Text between backticks is drawn as a name.
    const grant = fact("Session grant").first();
    assert((await grant.innerText()).startsWith(words.replaceAll("`", "")), await grant.innerText());
    const names = await grant.locator("code").allInnerTexts();
    assert.deepEqual(names.slice(-3).sort(), ["touch four.txt", "touch one.txt", "touch three.txt"]);
    await assertSound(page, "a grant in words");
  });

  await t.test("what runs before it, and what became of that", async () => {
    const behind = await next("mkdir out");
    await visitCard(page, behind);
    assert.equal(await fact("After").innerText(), "run_command: touch two.txt, which runs before this");
    await assertSound(page, "a call that runs after another one");
    await server.api("POST", `/v1/interrupts/${(await next("touch two.txt")).id}/decisions`, { option: "reject" });
    await page.reload();
    await shown(page, behind);
    assert.equal(await fact("After").innerText(), "run_command: touch two.txt, which was refused and did not run");
  });
});
