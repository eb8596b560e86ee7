// A run started in the browser: its keys work from the first card on, and no button is covered.
import assert from "node:assert/strict";
import test from "node:test";
import { person } from "./harness/browser.js";
import { card, words } from "./harness/card.js";
import { dress, LOOKS } from "./harness/shots.js";
import { serve } from "./harness/server.js";
import { t as text } from "./harness/texts.js";

const workflow = `
name: short
agents:
  guide: {instructions: Ask., tools: [run_command, ask_human]}
phases:
  - {id: work, kind: one_shot, agent: guide}
`;
const rehearsal = `
agents:
  guide:
    - text: Two commands.
      calls:
        - {as: one, tool: run_command, arguments: {command: "touch one"}}
        - {as: two, tool: run_command, arguments: {command: "touch two"}}
    - text: Done.
`;

/** Returns the covered buttons. Deciding buttons are checked at every scroll position, all others at the end of the
 * page. */
function covered(page) {
  return page.evaluate(() => {
    const found = new Set();
    for (let y = 0; ; y += Math.floor(innerHeight / 2)) {
      scrollTo(0, y);
      const isEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 1;
      for (const button of document.querySelectorAll("main button, main a.button")) {
        if (!button.checkVisibility()) continue;
        const { left, top, width, height } = button.getBoundingClientRect();
        const [x, middle] = [left + width / 2, top + height / 2];
        // Scrolled content moves out from under a sticky bar, except at the end of the page.
        if (!(isEnd || button.matches("[data-option]")) || middle < 0 || middle > innerHeight) continue;
        const hit = document.elementFromPoint(x, middle);
        if (hit && !button.contains(hit)) found.add(`${button.textContent.trim()} below ${hit.outerHTML.slice(0, 80)}`);
      }
      if (isEnd) break;
    }
    return [...found];
  });
}

test("without a model a workflow names its own demo, where it has one", async (t) => {
  const server = await serve(t);
  const page = await person(t, server);
  await page.goto("/runs/new");
  const workflow = page.getByLabel(text("new.workflow"), { exact: true });
  for (const name of ["coach", "compliance", "pair"]) {
    await workflow.selectOption(name);
    await page.getByText(`holdshort demo ${name}`, { exact: true }).waitFor();
  }
  await workflow.selectOption("step_by_step");
  await page.getByText("holdshort demo").waitFor({ state: "detached" });
  await page.getByText(text("new.rehearsal.how")).waitFor();
});

test("a run that is started in the browser", async (t) => {
  const server = await serve(t, { workflows: { short: { workflow, rehearsal } } });
  const page = await person(t, server);
  await page.goto("/runs/new");
  await page.getByLabel(text("new.workflow"), { exact: true }).selectOption("short");
  // A missing value is marked and focused, and nothing starts without it.
  await page.getByRole("button", { name: text("new.start") }).click();
  await page.getByText(text("new.missing", { name: "task" }), { exact: true }).waitFor();
  await page.getByLabel(/^task/).and(page.locator(":focus[aria-invalid=true]")).waitFor();
  await page.getByLabel(/^task/).fill("Make two files.");
  await page.getByText(text("new.missing", { name: "task" }), { exact: true }).waitFor({ state: "detached" });
  await page.getByLabel(new RegExp(`^${text("new.workspace")}`)).fill(server.workspace);
  await page.getByLabel(text("new.model")).fill("rehearsal");
  await page.getByRole("button", { name: text("new.start") }).click();
  await page.getByRole("heading", { level: 1, name: "Make two files." }).waitFor();
  // Either call of one reply may be asked about first.
  const first = await card(page).getAttribute("data-interrupt");

  await t.test("the keys of its first card work", async () => {
    await page.keyboard.press("i");
    assert(await words(page).evaluate((box) => box === document.activeElement), "i leads to the words");
    await page.keyboard.press("Escape");
    await page.keyboard.press("a");
    await page.locator(`article:not([data-interrupt="${first}"])`).waitFor();
    assert.equal((await server.api("GET", `/v1/interrupts/${first}`)).resolution.option, "approve");
  });

  await t.test("no button is covered", async () => {
    for (const look of LOOKS) {
      await dress(page, look);
      assert.deepEqual(await covered(page), [], look.name);
    }
    await dress(page, LOOKS[0]);
    await page.evaluate(() => scrollTo(0, 0));
    await page.keyboard.press("a");
    await page.getByRole("main").getByText(text("status.completed"), { exact: true }).first().waitFor();
  });
});
