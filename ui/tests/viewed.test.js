// The record of who looked at a card first.
import assert from "node:assert/strict";
import test from "node:test";
import { person } from "./harness/browser.js";
import { card, visitCard } from "./harness/card.js";
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
