// A card with folded parts: the options count them, and a view is recorded when all of it was shown.
import assert from "node:assert/strict";
import test from "node:test";
import { person } from "./harness/browser.js";
import { card, choose, option, outcome, visitCard } from "./harness/card.js";
import { serve } from "./harness/server.js";
import { t as text } from "./harness/texts.js";

const LONG = "open the gate ".repeat(200);

const looks = async (server, interrupt) => {
  const { items } = await server.api("GET", `/v1/runs/${interrupt.run}/events`);
  return items.filter((event) => event.type === "interrupt_viewed").length;
};

test("folded parts are counted beside what lets them go on, until they were shown", async (t) => {
  const server = await serve(t);
  const payload = { gate: LONG, at: "noon", notes: { first: "line\n".repeat(40) } };
  const interrupt = await server.agentAsks({ kind: "tool_approval", title: "Run it", payload });
  const page = await person(t, server);
  const first = "“open the gate open the g…”";
  const both = text("card.folded", { n: 2, names: text("card.folded.more", { named: first, n: 1 }) });
  await visitCard(page, interrupt);
  await option(page, "Approve").getByText(both).waitFor();
  assert.equal(await option(page, "Reject").getByText(/not shown/).count(), 0, "to refuse needs no look");

  // The option asks for confirmation, and names the parts that were not shown.
  await choose(page, "Approve");
  const dialog = page.getByRole("dialog");
  const names = "“open the gate open the g…”, “line…”";
  await dialog.getByText(text("card.confirm.folded", { names })).waitFor();
  await dialog.getByRole("button", { name: text("card.confirm.back") }).click();
  assert.equal(await looks(server, interrupt), 0, "it was not all shown");

  await card(page).getByRole("button", { name: text("card.all.long"), exact: true }).click();
  await option(page, "Approve").getByText(text("card.folded.one", { names: "“line…”" })).waitFor();
  assert.equal(await looks(server, interrupt), 0, "a part is left");
  const told = page.waitForResponse((response) => response.url().endsWith(`/v1/interrupts/${interrupt.id}/views`));
  await card(page).getByRole("button", { name: text("card.all", { n: 40 }) }).click();
  await told;
  assert.equal(await looks(server, interrupt), 1);
  // A part that was shown once stays shown, even if it is folded again.
  await card(page).getByRole("button", { name: text("card.less") }).first().click();
  await option(page, "Approve").getByText(/not shown/).waitFor({ state: "detached" });
  await choose(page, "Approve");
  await outcome(page, /approved/).waitFor();
});
