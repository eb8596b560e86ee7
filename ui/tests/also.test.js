// An approval for this session lists the other open calls that it covers, and releases those that stay ticked.
import assert from "node:assert/strict";
import test from "node:test";
import { person } from "./harness/browser.js";
import { card, find, visitCard } from "./harness/card.js";
import { serve } from "./harness/server.js";

test("a grant releases the open calls that stay ticked, and the button says how many", async (t) => {
  const server = await serve(t);
  const run = await server.api("POST", "/v1/runs", { workflow: "external", input: { task: "Edit three files" } });
  const asked = [];
  for (const path of ["a.rs", "b.rs", "c.rs"]) {
    const call = { tool: "edit", arguments: { path }, workspace: "/work/shop" };
    asked.push(await server.api("POST", "/v1/interrupts", { run: run.id, kind: "tool_approval", title: `Edit ${path}`, call }));
  }
  const [first, second, third] = asked;
  const page = await person(t, server);
  await visitCard(page, first);
  const list = card(page).locator("[data-also]");
  const box = (title) => list.getByRole("checkbox", { name: title });
  await box("Edit b.rs").waitFor();
  assert.deepEqual([await box("Edit b.rs").isChecked(), await box("Edit c.rs").isChecked()], [true, true]);
  await find(page, "Approve for this session");
  const grant = card(page).locator('[data-option="approve_session"]');
  assert.match(await grant.innerText(), /and 2 more/);
  await page.keyboard.press("Escape");
  await box("Edit c.rs").uncheck();
  await find(page, "Approve for this session");
  assert.match(await grant.innerText(), /and 1 more/);
  const answered = page.waitForResponse((response) => response.url().endsWith("/decisions"));
  await grant.click();
  const sent = (await answered).request().postDataJSON();
  assert.deepEqual([sent.also, sent.also_shown], [[second.id], [second.id, third.id]]);
  await card(page).getByText("Other calls released with this one: 1.").waitFor();
  const status = async ({ id }) => (await server.api("GET", `/v1/interrupts/${id}`)).status;
  assert.deepEqual([await status(second), await status(third)], ["resolved", "open"]);
});
