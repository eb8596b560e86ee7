// A decision page behind a link needs no app, no script and no login.
import assert from "node:assert/strict";
import test from "node:test";
import { visit } from "./harness/browser.js";
import { serve } from "./harness/server.js";
import { serveTour } from "./harness/tour.js";

const bare = (t, server) => visit(t, server, { javaScriptEnabled: false });
const link = async (server, { id }) => (await server.api("POST", `/v1/interrupts/${id}/links`)).url;
const now = (server, { id }) => server.api("GET", `/v1/interrupts/${id}`);
const ended = (page) => page.getByRole("region", { name: "How it ended" });

test("looking decides nothing, the button decides, and the link is spent", async (t) => {
  const server = await serve(t);
  const interrupt = await server.agentAsks({ kind: "tool_approval", title: "Refund 120 EUR", payload: { order: 4711 } });
  const url = await link(server, interrupt);
  const page = await bare(t, server);
  const before = await now(server, interrupt);
  for (let n = 0; n < 3; n += 1) {
    await page.goto(url);
    await page.getByRole("heading", { name: "Refund 120 EUR" }).waitFor();
  }
  assert.deepEqual(await now(server, interrupt), before, "three visits have changed nothing");

  await page.getByLabel("Your words").fill("The parcel is here.");
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  await ended(page).getByText("The parcel is here.").waitFor();
  const { resolution } = await now(server, interrupt);
  assert.deepEqual([resolution.outcome, resolution.text], ["approved", "The parcel is here."]);

  const late = await bare(t, server);
  await late.goto(url);
  await ended(late).getByText(/approved/i).first().waitFor();
  assert.equal(await late.getByRole("button").count(), 0, "there is nothing left to press");
});

test("where the risk is high the box must be ticked, and what lets nothing go on needs no box", async (t) => {
  const { server, open } = await serveTour(t);
  const installing = open.find(({ title }) => title.endsWith("pip install wind-sock"));
  const page = await bare(t, server);
  await page.goto(await link(server, installing));
  const sure = page.getByRole("checkbox", { name: /The risk is high/ });
  const allow = page.getByRole("button", { name: "Approve", exact: true });
  await allow.click();
  assert.equal(await sure.evaluate((box) => box.validity.valueMissing), true);
  assert.equal((await now(server, installing)).status, "open");
  // If the browser does not validate the form, the server rejects it.
  await page.locator("form").evaluate((form) => form.setAttribute("novalidate", ""));
  await allow.click();
  await page.getByRole("alert").getByText("Nothing was decided.").waitFor();
  assert.equal((await now(server, installing)).status, "open");
  await sure.check();
  await allow.click();
  await ended(page).waitFor();
  assert.equal((await now(server, installing)).resolution.option, "approve");

  const review = open.find(({ kind }) => kind === "review");
  await page.goto(await link(server, review));
  await page.getByRole("button", { name: "Reject" }).click();
  await ended(page).waitFor();
  assert.equal((await now(server, review)).resolution.option, "reject");
});

test("a suggested answer and an answer in own words", async (t) => {
  const { server, open } = await serveTour(t);
  const question = open.find(({ kind }) => kind === "question");
  const page = await bare(t, server);
  await page.goto(await link(server, question));
  await page.getByRole("radio", { name: "south" }).check();
  await page.getByRole("button", { name: "Answer" }).click();
  await ended(page).waitFor();
  assert.equal((await now(server, question)).resolution.text, "south");
});
