// Layout and effects of the options of an external agent.
import assert from "node:assert/strict";
import test from "node:test";
import { person } from "./harness/browser.js";
import { option, visitCard } from "./harness/card.js";
import { serve } from "./harness/server.js";
import { dress } from "./harness/shots.js";

const ASK = {
  kind: "tool_approval",
  title: "Clean up",
  call: { tool: "shell", arguments: { command: "rm -r build" } },
  options: [
    { id: "approve", label: "Approve" },
    { id: "reject", label: "Reject" },
  ],
};

test("the options of an external agent", async (t) => {
  const server = await serve(t);
  const page = await person(t, server);
  const asked = await server.agentAsks(ASK);

  await t.test("fill their cells on a telephone", async () => {
    await dress(page, { width: 390, theme: "light" });
    await visitCard(page, asked);
    const [approve, reject] = await Promise.all(["Approve", "Reject"].map((label) => option(page, label).boundingBox()));
    assert(approve && reject);
    assert(Math.abs(approve.width - reject.width) < 1, `${approve.width} and ${reject.width}`);
    assert(approve.width > 150, `${approve.width}`);
  });

  await t.test("show an effect only if their label does not say it", async () => {
    const { card: told } = await server.api("GET", `/v1/interrupts/${asked.id}`);
    assert.deepEqual(told.options.map(({ note }) => note), [undefined, "rejects it; the agent gets your reason and continues"]);
    await option(page, "Reject").getByText(told.options[1].note).waitFor();
    assert.equal(await option(page, "Approve").getByText("continues").count(), 0);
  });
});
