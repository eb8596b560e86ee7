// The record of the first view of a card, and of the viewing time before the decision.
import assert from "node:assert/strict";
import test from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { person } from "./harness/browser.js";
import { card, choose, open, visitCard } from "./harness/card.js";
import { serve } from "./harness/server.js";

const looks = async (server, interrupt) => {
  const { items } = await server.api("GET", `/v1/runs/${interrupt.run}/events`);
  return items.filter((event) => event.type === "interrupt_viewed");
};

test("showing a card is a look, once for each person; reading it is none", async (t) => {
  const server = await serve(t);
  const interrupt = await server.agentAsks({ kind: "tool_approval", title: "Open the gate", payload: { gate: 4 } });
  await server.api("GET", `/v1/interrupts/${interrupt.id}`);
  assert.deepEqual(await looks(server, interrupt), []);
  const page = await person(t, server);
  const told = () => page.waitForResponse((response) => response.url().endsWith(`/v1/interrupts/${interrupt.id}/views`));
  for (let visit = 0; visit < 2; visit += 1) {
    const answered = told();
    if (visit === 0) await visitCard(page, interrupt);
    else await page.reload();
    await card(page).waitFor();
    assert.equal((await answered).status(), 200);
  }
  const found = await looks(server, interrupt);
  assert.deepEqual(found.map((event) => event.data.interrupt), [interrupt.id]);
});

/** Simulates the browser's event when the tab is hidden or shown. */
const turn = (page, visibilityState) =>
  page.evaluate((state) => {
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state });
    document.dispatchEvent(new Event("visibilitychange"));
  }, visibilityState);

test("a decision says how long its card was visible, and not how long it lay in a hidden tab", async (t) => {
  const server = await serve(t);
  const asked = [];
  for (const gate of [4, 5]) asked.push(await server.agentAsks({ kind: "tool_approval", title: "Open the gate", payload: { gate } }));
  const [interrupt, other] = asked;
  const page = await person(t, server);
  const began = Date.now();
  const told = page.waitForResponse((response) => response.url().endsWith(`/v1/interrupts/${interrupt.id}/views`));
  await visitCard(page, interrupt);
  await told;
  await turn(page, "hidden");
  const hid = Date.now();
  await pause(1_500);
  const hidden = Date.now() - hid;
  await turn(page, "visible");
  await pause(400);
  const answered = page.waitForResponse((response) => response.url().endsWith("/decisions"));
  await choose(page, "Approve");
  const sent = (await answered).request().postDataJSON();
  const most = Date.now() - began - hidden;
  assert(sent.viewed_ms >= 390 && sent.viewed_ms <= most, `${sent.viewed_ms} of at most ${most} ms`);
  const { items } = await server.api("GET", `/v1/runs/${interrupt.run}/events`);
  const made = items.filter((event) => event.type === "decision_made");
  assert.deepEqual(made.map((event) => event.data.viewed_ms), [sent.viewed_ms]);
  // Each card has its own time, which stops when the card is removed.
  const looked = Date.now();
  const begun = page.waitForResponse((response) => response.url().endsWith(`/v1/interrupts/${other.id}/views`));
  await open(page, other);
  await begun;
  await pause(300);
  const second = page.waitForResponse((response) => response.url().endsWith(`/${other.id}/decisions`));
  await choose(page, "Approve");
  const { viewed_ms } = (await second).request().postDataJSON();
  assert(viewed_ms > 0 && viewed_ms <= Date.now() - looked, `${viewed_ms} ms`);
});
