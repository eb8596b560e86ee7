// Two people decide on one interrupt at once.
import assert from "node:assert/strict";
import test from "node:test";
import { person } from "./harness/browser.js";
import { card, choose, outcome, visitCard, words } from "./harness/card.js";
import { serve } from "./harness/server.js";
import { t as text } from "./harness/texts.js";

const ASK = { kind: "tool_approval", title: "Open the gate", payload: { gate: 4 } };
const DECISIONS = "**/v1/interrupts/*/decisions";

test("of two decisions at once one counts, and the other card says who decided what", async (t) => {
  const server = await serve(t);
  const people = await Promise.all([person(t, server), person(t, server)]);
  const interrupt = await server.agentAsks(ASK);
  // Both decisions are sent before either arrives.
  let [sent, let_go] = [0, () => {}];
  const both = new Promise((resolve) => (let_go = resolve));
  for (const page of people) {
    await visitCard(page, interrupt);
    await page.route(DECISIONS, async (route) => {
      sent += 1;
      if (sent === 2) let_go();
      await both;
      await route.continue();
    });
  }
  const [approving, rejecting] = people;
  await words(rejecting).fill("Not before noon.");
  await Promise.all([choose(approving, "Approve"), choose(rejecting, "Reject")]);
  await Promise.all(people.map((page) => outcome(page, /by operator/).waitFor()));

  const { resolution } = await server.api("GET", `/v1/interrupts/${interrupt.id}`);
  const isApproved = resolution.outcome === "approved";
  const [winner, loser] = isApproved ? people : [rejecting, approving];
  const said = isApproved ? /approved by operator/ : /rejected by operator/;
  await Promise.all(people.map((page) => outcome(page, said).waitFor()));
  await card(loser).getByText(text("card.outcome.late")).waitFor();
  assert.equal(await card(winner).getByText(text("card.outcome.late")).count(), 0);
  const { items } = await server.api("GET", `/v1/runs/${interrupt.run}/events`);
  assert.equal(items.filter((event) => event.type === "decision_made").length, 1);
  if (isApproved) await card(rejecting).getByLabel(text("card.leftover.text")).waitFor();
});

test("a card that is decided elsewhere while somebody types keeps what was typed", async (t) => {
  const server = await serve(t);
  const page = await person(t, server);
  const interrupt = await server.agentAsks(ASK);
  await visitCard(page, interrupt);
  await words(page).pressSequentially("I am not su");
  await server.api("POST", `/v1/interrupts/${interrupt.id}/decisions`, { option: "reject", text: "Closed today." });
  await outcome(page, /rejected by operator/).waitFor();
  await card(page).getByText("Closed today.").waitFor();
  const left = card(page).getByRole("region", { name: text("card.leftover") });
  assert.equal(await left.getByLabel(text("card.leftover.text")).inputValue(), "I am not su");
  assert.equal(await outcome(page, /rejected/).evaluate((heading) => heading === document.activeElement), true, "focus");
  await page.reload();
  assert.equal(await left.getByLabel(text("card.leftover.text")).inputValue(), "I am not su");
  await left.getByRole("button", { name: text("card.leftover.forget") }).click();
  await left.waitFor({ state: "detached" });
});
