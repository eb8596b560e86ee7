// The compliance crew in the browser. Rules hold a report back, and a person releases it exactly as shown or not at
// all. No page shows a customer's name.
import assert from "node:assert/strict";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { person, signIn, visit } from "./harness/browser.js";
import { card, choose, option, outcome, visitCard, words } from "./harness/card.js";
import { eventually } from "./harness/eventually.js";
import { serve } from "./harness/server.js";
import { shoot } from "./harness/shots.js";
import { t as text } from "./harness/texts.js";
import { assertSound } from "./harness/views.js";

const SAMPLE = join(import.meta.dirname, "../../packs/compliance/workflows/compliance/sample");
const whole = { fullPage: true };

/** Returns the names of the customers in the case. */
function names() {
  const lines = readFileSync(join(SAMPLE, "customers.csv"), "utf8").trim().split("\n").slice(1);
  const all = lines.map((line) => line.split(",")[1].replaceAll('"', ""));
  assert(all.length > 9 && all.every((name) => name.length > 3), String(all));
  return all;
}

/** Starts a run over the shipped case, and waits until its report is held back. */
async function held(t) {
  const server = await serve(t);
  for (const table of ["transactions.csv", "customers.csv", "watchlist.csv"]) {
    copyFileSync(join(SAMPLE, table), join(server.workspace, table));
  }
  const config = { workspace: server.workspace, model: "rehearsal" };
  const input = { task: "What needs attention?", case: "sample", as_of: "2026-03-31" };
  const { id } = await server.api("POST", "/v1/runs", { workflow: "compliance", input, config });
  const report = await eventually("the report to be held back", async () => {
    const { items } = await server.api("GET", `/v1/interrupts?run=${id}&status=open`);
    return items[0];
  });
  return { server, id, report };
}

const said = (page) => page.getByRole("main").innerText();

function assertNobody(shown) {
  for (const name of names()) assert(!shown.toLowerCase().includes(name.toLowerCase()), name);
}

test("a report is held back, read, and released as it was shown", async (t) => {
  const { server, id, report } = await held(t);
  const page = await person(t, server);
  await visitCard(page, report);
  await card(page).getByText(text("risk.critical")).first().waitFor();
  await card(page).getByText(/F9 sanctions: customer 8/).first().waitFor();
  // Findings are drawn as readable lines, never as raw data.
  const cash = card(page).getByRole("listitem").filter({ hasText: /id\s*F1\b/ }).filter({ hasText: /rule\s*large_cash/ });
  await cash.filter({ hasText: /amount\s*12500\.00/ }).filter({ hasText: /rows\s*95\b/ }).waitFor();
  await card(page).getByRole("listitem").filter({ hasText: /sanctions: A name is similar/ }).first().waitFor();
  assert(!/[{}[\]]/.test(await card(page).innerText()), "no brackets of data");
  for (const offer of ["Release the report", "Do not release it"]) await option(page, offer).waitFor();
  await assertSound(page, "a report that is held back");
  await shoot(page, "compliance-held", whole);
  assertNobody(await said(page));

  // A power cut leaves the request unchanged.
  await server.restart();
  await visitCard(page, report);
  await words(page).fill("Rows checked.");
  await choose(page, "Release the report");
  // The risk is critical, so the release asks for confirmation.
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("heading", { name: "Release the report?" }).waitFor();
  await shoot(page, "compliance-once-more");
  assert.equal((await server.api("GET", `/v1/interrupts/${report.id}`)).status, "open");
  await dialog.getByRole("button", { name: "Release the report" }).click();
  await outcome(page, text("outcome.approved")).waitFor();
  await card(page).getByText("Rows checked.").first().waitFor();
  await shoot(page, "compliance-released", whole);

  await eventually("the run to end", async () => (await server.api("GET", `/v1/runs/${id}`)).status === "completed");
  await page.goto(`/runs/${id}`);
  const result = page.getByRole("region", { name: text("run.result") });
  await result.getByText(/F9 sanctions: customer 8/).first().waitFor();
  const { result: released } = await server.api("GET", `/v1/runs/${id}`);
  assert.equal(released.released[0].content, report.payload.content);
  await assertSound(page, "the run of a report that was released");
  await shoot(page, "compliance-completed", whole);
  assertNobody(await said(page));

  // The record of the review is a page that loads nothing and prints completely.
  const record = await server.api("GET", `/v1/receipts/${report.id}/page`);
  assertNobody(record);
  const sheet = await visit(t, server);
  await sheet.setContent(record);
  const shown = await sheet.locator("body").innerText();
  for (const part of [/F9 sanctions: customer 8/, /Rows checked\./, /Approved/]) assert.match(shown, part);
  const paper = await sheet.pdf({ format: "A4" });
  assert.equal(paper.subarray(0, 5).toString("latin1"), "%PDF-");
  const sheets = paper.toString("latin1").match(/\/Type \/Page\b/g) ?? [];
  assert(sheets.length > 1, `${sheets.length} pages of paper`);
});

test("a report that is not released is nowhere", async (t) => {
  const { server, id, report } = await held(t);
  const page = await person(t, server);
  await visitCard(page, report);
  await words(page).fill("The rows are wrong.");
  await choose(page, "Do not release it");
  await outcome(page, text("outcome.rejected")).waitFor();
  await eventually("the run to fail", async () => (await server.api("GET", `/v1/runs/${id}`)).status === "failed");
  await page.goto(`/runs/${id}`);
  await page.getByText(/The rows are wrong\./).first().waitFor();
  assert.equal(await page.getByRole("region", { name: text("run.result") }).getByText(/F9 sanctions/).count(), 0);
  await shoot(page, "compliance-rejected", whole);
});

test("the text of a report is there with its options, also where the part that sets it is late", async (t) => {
  const { server, report } = await held(t);
  const page = await visit(t, server);
  let letGo;
  const late = new Promise((resolve) => (letGo = resolve));
  await page.route(/\/Review\.js$/, async (route) => {
    await late;
    await route.continue().catch(() => undefined);
  });
  await signIn(page, server);
  await visitCard(page, report);
  await option(page, "Release the report").waitFor();
  // Shows the source text. After formatting, the mark of a heading is not part of its text.
  await card(page).getByText(/# Compliance report/).first().waitFor();
  letGo();
  await card(page).getByRole("heading", { name: text("card.findings") }).first().waitFor();
  await page.unrouteAll({ behavior: "ignoreErrors" });
});
