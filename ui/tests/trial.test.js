// The card of a tried command shows its changes, deletions first. Without a trial, it shows the reason.
import assert from "node:assert/strict";
import test from "node:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { person } from "./harness/browser.js";
import { card, choose, outcome, visitCard } from "./harness/card.js";
import { eventually } from "./harness/eventually.js";
import { serve } from "./harness/server.js";
import { shoot } from "./harness/shots.js";
import { t as text } from "./harness/texts.js";
import { assertSound } from "./harness/views.js";

const workflow = `
name: tried
agents:
  guide: {instructions: Work., tools: [run_command]}
phases:
  - {id: work, kind: one_shot, agent: guide}
gates:
  trial: on
`;
const LINES = [
  "sh tidy.sh",
  "for i in $(seq 700); do echo $i > many$i.txt; done",
];
const rehearsal = `
agents:
  guide:
    - text: Tidy up.
      calls:
        - {as: tidy, tool: run_command, arguments: {command: "${LINES[0]}"}}
    - text: Now many.
      calls:
        - {as: many, tool: run_command, arguments: {command: "${LINES[1]}"}}
    - text: Done.
`;
const TIDY = `
for i in $(seq 40); do echo "looked at $i"; done
echo "tests: 41 passed"
rm old.txt
sed -i s/two/2/ runway.txt
echo fresh > src/fresh.txt
chmod 600 kept.txt
ln -s runway.txt link
printf '\\000\\001\\002' > picture.bin
mkdir -p target && echo x > target/cache && echo y > target/more
echo newer > cache/kept && rm cache/gone
exit 3
`;

/** Locates the warnings of a command that was not tried. */
const effect = (page) => card(page).getByRole("term").filter({ hasText: /^Effect$/ });
const untriedNote = (page) => card(page).getByText("You approve this command line").filter({ visible: true });

const asked = (server, id, command) =>
  eventually(`${command} to be asked about`, async () => {
    const { items } = await server.api("GET", `/v1/interrupts?run=${id}&status=open`);
    return items.find((each) => each.payload.command === command);
  });

async function start(server, workspace = server.workspace) {
  for (const folder of [".git", "src", "cache"]) mkdirSync(join(workspace, folder));
  const ignored = { "cache/kept": "older\n", "cache/gone": "gone\n" };
  const files = { ".gitignore": "target/\ncache/\n", ...ignored, "tidy.sh": TIDY, "old.txt": "old\n", "kept.txt": "kept\n", "runway.txt": "one\ntwo\nthree\n" };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(workspace, name), content);
  chmodSync(join(workspace, "kept.txt"), 0o644);
  const config = { workspace, model: "rehearsal" };
  return (await server.api("POST", "/v1/runs", { workflow: "tried", input: { task: "Tidy up." }, config })).id;
}

test("the card of a command that was tried", async (t) => {
  const server = await serve(t, { workflows: { tried: { workflow, rehearsal } } });
  const id = await start(server);
  const page = await person(t, server);
  const trial = card(page).getByRole("group", { name: text("trial.title") });
  const changes = trial.getByRole("list", { name: text("trial.changes"), exact: true }).locator(":scope > li");

  await t.test("says what it did: in a line, each path with what becomes of it, deletions first", async () => {
    const tidy = await asked(server, id, LINES[0]);
    await visitCard(page, tidy);
    await trial.getByText(text("trial.exit", { code: 3 }), { exact: true }).waitFor();
    await trial.getByText(/^\d+ files changed, 2 deleted, 2 of these ignored by git$/).waitFor();
    await card(page).getByText(tidy.payload.note).filter({ visible: true }).waitFor();
    // The warnings for commands with unknown effects do not appear.
    assert.equal(await effect(page).count(), 0);
    assert.equal(await untriedNote(page).count(), 0);
    const heads = await changes.evaluateAll((all) =>
      all.map((each) => [each.querySelector(".does").textContent, each.querySelector("code").textContent].join(" ")),
    );
    assert.deepEqual(heads, [
      "deleted cache/gone",
      "deleted old.txt",
      "mode kept.txt",
      "created link",
      "created picture.bin",
      "changed runway.txt",
      "created src/fresh.txt",
      "changed cache/kept",
    ]);
    for (const [path, also] of [["kept.txt", "mode 600"], ["link", "runway.txt"], ["picture.bin", "3 bytes"]]) {
      await changes.filter({ hasText: also }).filter({ has: page.getByText(path, { exact: true }) }).first().waitFor();
    }
  });

  await t.test("shows the change of each file, the first ones open, folded at will", async () => {
    const figure = trial.getByRole("figure", { name: text("card.diff.title", { path: "runway.txt" }) });
    await figure.waitFor();
    const rows = await figure.locator("tr.removed .text, tr.added .text").allInnerTexts();
    assert.deepEqual(rows, ["two", "2"]);
    await trial.getByRole("figure", { name: text("card.diff.title", { path: "old.txt" }) }).waitFor();
    await changes.filter({ hasText: "runway.txt" }).filter({ hasText: "changed" }).locator("summary").click();
    await figure.waitFor({ state: "detached" });
  });

  await t.test("shows the end of its output, and all of it on demand", async () => {
    await trial.getByText("tests: 41 passed").waitFor();
    assert.equal(await trial.getByText(/looked at 1$/m).count(), 0);
    await trial.getByRole("button", { name: /^Show \d+ earlier lines$/ }).click();
    await trial.getByText("looked at 2\n").waitFor();
    await trial.getByRole("button", { name: text("trial.output.less") }).click();
  });

  await t.test("shows the change of an ignored file that was there as any other, and marks it", async () => {
    const marked = changes.filter({ hasText: text("trial.ignored") });
    assert.deepEqual(await marked.locator("code").allTextContents(), ["cache/gone", "cache/kept"]);
    const diff = trial.getByRole("figure", { name: text("card.diff.title", { path: "cache/kept" }) });
    if (!(await diff.isVisible())) await trial.getByText("cache/kept").click();
    // The person's own tools may run its content, so it is unfolded.
    await diff.waitFor();
  });

  await t.test("counts the new ignored files apart, which the run alone gets", async () => {
    assert.equal(await trial.getByText("target/cache", { exact: true }).isVisible(), false);
    await trial.getByText(text("trial.layer", { n: 2 }), { exact: true }).click();
    const kept = trial.getByRole("list", { name: text("trial.layer", { n: 2 }) }).getByRole("listitem");
    await kept.first().waitFor();
    assert.deepEqual(await kept.allTextContents(), ["target/cache", "target/more"]);
    await assertSound(page, "a command that was tried");
    await shoot(page, "trial", { fullPage: true });
  });

  await t.test("what is released is what was shown", async () => {
    assert(existsSync(join(server.workspace, "old.txt")), "nothing has happened yet");
    await choose(page, "Approve");
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    await outcome(page, /approved/).waitFor();
    // The commit has ended when the next command asks.
    await asked(server, id, LINES[1]);
    assert(!existsSync(join(server.workspace, "old.txt")));
    assert.equal(readFileSync(join(server.workspace, "runway.txt"), "utf8"), "one\n2\nthree\n");
    assert.equal(readFileSync(join(server.workspace, "cache/kept"), "utf8"), "newer\n");
    assert(!existsSync(join(server.workspace, "cache/gone")));
    assert(!existsSync(join(server.workspace, "target")), "the run alone has it");
  });

  await t.test("what the card has no room for is counted on it, and once more where it is released", async () => {
    const many = await asked(server, id, LINES[1]);
    assert.equal(many.payload.trial.not_shown, 200);
    await visitCard(page, many);
    await trial.getByText(text("trial.unseen.paths", { n: 200 })).waitFor();
    await choose(page, "Approve");
    await page.getByRole("dialog").getByText(text("card.confirm.unseen")).getByText("200 more paths").waitFor();
    await page.keyboard.press("Escape");
    await assertSound(page, "a command that changes more than a card shows");
    await shoot(page, "trial-many");
  });
});

test("some of what a command did is kept, by file", async (t) => {
  const server = await serve(t, { workflows: { tried: { workflow, rehearsal } } });
  const id = await start(server);
  const page = await person(t, server);
  const first = await asked(server, id, LINES[0]);
  await visitCard(page, first);
  await choose(page, "Approve some of the changes");
  const boxes = card(page).getByRole("group", { name: text("trial.keep") });
  const box = (path) => boxes.getByRole("checkbox", { name: path });
  for (const path of ["old.txt", "cache/gone", "link"]) await box(path).uncheck();
  await assertSound(page, "the choice of what is kept");
  await shoot(page, "trial-keep");
  await choose(page, "Approve some of the changes");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("src/fresh.txt").waitFor();
  await dialog.getByRole("heading", { name: text("trial.affected.dropped") }).waitFor();
  const dropped = await dialog.getByRole("listitem").allTextContents();
  assert.deepEqual(dropped.map((each) => each.trim().split(/\s+/).at(-1)).sort(), ["cache/gone", "link", "old.txt"]);
  await assertSound(page, "what is kept and what is dropped");
  await dialog.getByRole("button", { name: "Approve some of the changes" }).click();
  await outcome(page, /approved/).waitFor();
  await asked(server, id, LINES[1]);
  const stands = (path) => existsSync(join(server.workspace, path));
  assert.deepEqual(["old.txt", "cache/gone", "link", "src/fresh.txt", "target"].map(stands), [true, true, false, true, false]);
  const { items } = await server.api("GET", `/v1/runs/${id}/events?limit=200`);
  assert(items.some((event) => JSON.stringify(event).includes("kept only some of the changes of this call. Dropped: link, old.txt, cache/gone")));
});

test("a command that cannot be tried says so, and why", async (t) => {
  const server = await serve(t, { workflows: { tried: { workflow, rehearsal } } });
  // An overlay over the temporary folder would contain itself, so it cannot be tried.
  const id = await start(server, join(server.folder, "tmp"));
  const page = await person(t, server);
  const first = await asked(server, id, LINES[0]);
  await visitCard(page, first);
  await card(page).getByText(`the command could not be tried before you decide: ${first.payload.untried}`).waitFor();
  await effect(page).waitFor();
  await untriedNote(page).waitFor();
  await assertSound(page, "a command that was not tried");
  await shoot(page, "trial-untried");
});

test("what the task does not name is marked, of commands and of file tools", async (t) => {
  const calls = [
    { tool: "run_command", arguments: { command: "mkdir src && echo 1 > src/a.txt && echo 2 > b.txt" } },
    { tool: "write_file", arguments: { path: "c.txt", content: "c" } },
  ];
  const agents = `agents:\n  guide:\n    - text: Go on.\n      calls: ${JSON.stringify(calls)}\n    - text: Done.\n`;
  const wide = workflow.replace("[run_command]", "[run_command, write_file]");
  const server = await serve(t, { workflows: { tried: { workflow: wide, rehearsal: agents } } });
  const config = { workspace: server.workspace, model: "rehearsal" };
  const { id } = await server.api("POST", "/v1/runs", { workflow: "tried", input: { task: "Tidy up src/" }, config });
  const page = await person(t, server);
  await visitCard(page, await asked(server, id, calls[0].arguments.command));
  await card(page).getByText(text("trial.outside.of", { n: 1 }), { exact: true }).waitFor();
  const marked = card(page).getByRole("listitem").filter({ hasText: text("trial.outside") });
  await marked.getByText("b.txt").first().waitFor();
  assert.equal(await marked.count(), 1);
  await assertSound(page, "a command that changes what its task does not name");
  await shoot(page, "trial-outside");
  await choose(page, "Approve");
  await outcome(page, /approved/).waitFor();
  const file = await eventually("the file to be asked about", async () => {
    const { items } = await server.api("GET", `/v1/interrupts?run=${id}&status=open`);
    return items.find((each) => each.payload.tool === "write_file");
  });
  await visitCard(page, file);
  await card(page).getByText(text("trial.outside.file")).waitFor();
  await card(page).getByRole("figure", { name: text("card.diff.title", { path: "c.txt" }) }).waitFor();
  await assertSound(page, "a file that its task does not name");
});
