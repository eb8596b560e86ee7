// A choice among an agent's options also accepts an answer in the person's own words.
import assert from "node:assert/strict";
import test from "node:test";
import { person } from "./harness/browser.js";
import { choose, option, outcome, visitCard, words } from "./harness/card.js";
import { serve } from "./harness/server.js";

test("a choice with one option is answered in one's own words", async (t) => {
  const server = await serve(t);
  const page = await person(t, server);
  const asked = await server.agentAsks({ kind: "choice", title: "Deploy?", options: [{ id: "go", label: "Deploy now" }] });
  await visitCard(page, asked);
  await option(page, "Deploy now").waitFor();
  await words(page).fill("Not on a Friday.");
  await choose(page, "Other answer");
  await outcome(page, /answered Other answer by operator/).waitFor();
  const { resolution } = await server.api("GET", `/v1/interrupts/${asked.id}`);
  assert.deepEqual([resolution.option, resolution.text], ["custom", "Not on a Friday."]);
});
