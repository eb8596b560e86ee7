// Browser and terminal next to each other: a decision in one is shown in the other at once.
import assert from "node:assert/strict";
import test from "node:test";
import { person } from "./harness/browser.js";
import { card, optionOfAll, outcome, visitCard } from "./harness/card.js";
import { holdsShort, serveDemo } from "./harness/demo.js";
import { decideInTerminal, showInTerminal } from "./harness/terminal.js";
import { t as text } from "./harness/texts.js";

/** Generous limit for a busy machine. People usually get it in less than a second. */
const AT_ONCE_MS = 5_000;

test("every second decision is made in the terminal", async (t) => {
  const { server, id } = await serveDemo(t);
  const page = await person(t, server);
  const run = await page.context().newPage();
  await run.goto(`/runs/${id}`);
  const taken = [];

  for (let n = 0; ; n += 1) {
    const interrupt = await holdsShort(server, id);
    if (!interrupt) break;
    await visitCard(page, interrupt);
    const waiting = run.locator(`article[data-interrupt="${interrupt.id}"]`);
    await waiting.waitFor();
    const [first] = interrupt.options;
    const answer = interrupt.kind === "question" ? interrupt.payload.choices[1] : undefined;
    if (n % 2 === 0) {
      const since = await decideInTerminal(server, interrupt.id, first.id, answer).then(() => performance.now());
      await outcome(page, new RegExp(`(${first.label}|approved|answered).*by operator`)).waitFor({ timeout: AT_ONCE_MS });
      await waiting.waitFor({ state: "detached", timeout: AT_ONCE_MS });
      taken.push(Math.round(performance.now() - since));
      if (answer) await card(page).getByText(answer).last().waitFor();
    } else {
      await optionOfAll(page, first.label).click();
      await outcome(page, new RegExp(`(${first.label}|approved|answered).*by operator`)).waitFor();
      assert.match(await showInTerminal(server, interrupt.id), /approved/);
    }
  }
  t.diagnostic(`from the terminal's return to both pages: ${taken.join(", ")} ms`);
  assert.equal(taken.length, 3, "of six decisions");
  await run.getByRole("main").getByText(text("status.completed"), { exact: true }).first().waitFor({ timeout: AT_ONCE_MS });
  assert.match(await showInTerminal(server, id), /completed/);
});
