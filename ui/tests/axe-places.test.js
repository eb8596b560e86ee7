// Every view of the app, and the server's own pages, pass the axe checks and fit the width of the window.
import assert from "node:assert/strict";
import test from "node:test";
import { person, visit } from "./harness/browser.js";
import { choose, outcome, visitCard } from "./harness/card.js";
import { serve } from "./harness/server.js";
import { t as text } from "./harness/texts.js";
import { serveTour } from "./harness/tour.js";
import { ALL, assertSound } from "./harness/views.js";

test("with nothing in them", async (t) => {
  const server = await serve(t);
  const stranger = await visit(t, server);
  await stranger.goto("/login#spent");
  await stranger.getByRole("alert").waitFor();
  await assertSound(stranger, "the door");

  const page = await person(t, server);
  await page.getByText(text("inbox.empty")).waitFor();
  await assertSound(page, "an empty inbox");
  await page.goto("/runs");
  await page.getByText(text("runs.empty")).waitFor();
  await assertSound(page, "no runs");
  await page.goto("/grants");
  await page.getByText(text("grants.empty")).waitFor();
  await assertSound(page, "no grants");
  // An id of the right form, and one of the wrong form.
  for (const id of [`run_${"0".repeat(26)}`, "run_nothing"]) {
    await page.goto(`/runs/${id}`);
    await page.getByRole("heading", { level: 1, name: text("run.nowhere") }).waitFor();
    assert.equal(await page.getByRole("alert").count(), 0);
    assert.equal(await page.getByRole("link", { name: text("run.nowhere.runs") }).getAttribute("href"), "/runs");
  }
  await assertSound(page, "a run that is not there");
  for (const [path, title] of [["/docs/errors", "Error codes"], ["/docs/errors/stale", "stale"], ["/nowhere", "Nothing here"]]) {
    await page.goto(path);
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
    await assertSound(page, path);
  }
});

test("with something in them", async (t) => {
  const { server, id, open } = await serveTour(t);
  const page = await person(t, server);
  await page.locator(`#item-${open[0].id}`).waitFor();
  await assertSound(page, "the inbox", ALL);
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await assertSound(page, "the keys");
  await page.keyboard.press("Escape");

  await visitCard(page, open.find(({ title }) => title === "write_file: notes/new.md"));
  await choose(page, "Approve for this session");
  await outcome(page, /approved/).waitFor();
  await page.goto("/grants");
  const back = page.getByRole("list", { name: text("grants.list") }).getByRole("button");
  await back.waitFor();
  await assertSound(page, "grants", ALL);
  await back.click();
  await page.getByRole("dialog").waitFor();
  await assertSound(page, "a grant to take back");

  await page.goto("/runs");
  await page.getByRole("link", { name: "Show everything." }).waitFor();
  await assertSound(page, "runs", ALL);
  await page.goto("/runs/new");
  await page.getByRole("button", { name: text("new.start") }).waitFor();
  await assertSound(page, "a new run");

  await page.goto(`/runs/${id}`);
  await page.getByRole("tabpanel").getByText("Everything at once.").first().waitFor();
  await assertSound(page, "a run", ALL);
  await page.getByRole("button", { name: text("run.cancel"), exact: true }).click();
  await page.getByRole("dialog").waitFor();
  await assertSound(page, "a run to cancel");
  await page.keyboard.press("Escape");
  await page.getByRole("tab", { name: text("run.timeline") }).click();
  await page.getByRole("tabpanel").getByRole("button").first().click();
  await assertSound(page, "a timeline", ALL);

  await page.goto("/");
  await page.locator(`#item-${open[0].id}`).waitFor();
  await server.kill();
  await page.getByRole("status").filter({ hasText: text("app.lost") }).waitFor();
  await assertSound(page, "a lost connection");
});
