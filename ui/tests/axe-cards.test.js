// Every kind of card, open and decided, passes the axe checks and fits the width of the window.
import assert from "node:assert/strict";
import test from "node:test";
import { person, visit } from "./harness/browser.js";
import { card, choose, outcome, visitCard } from "./harness/card.js";
import { t as text } from "./harness/texts.js";
import { serveTour } from "./harness/tour.js";
import { ALL, assertSound } from "./harness/views.js";

const EXTERNAL = [
  { kind: "choice", title: "Which runway?", options: [{ id: "a", label: "North" }, { id: "b", label: "South" }] },
  { kind: "escalation", title: "The tower does not answer", message: "I have called three times.", expires_in_ms: 240_000 },
  {
    kind: "tool_approval",
    title: "Pay \u202egpj.exe",
    message: "See ![ok](https://elsewhere.example/x.png) and [https://a.example](https://b.example/).",
    payload: { command: "\u0441url https://example.org", nested: { list: [1, 2], text: "line\n".repeat(60) } },
  },
  {
    kind: "tool_approval",
    title: "Clean up",
    message: "The build folder is stale.",
    payload: { sandbox: "full", ticket: 4711 },
    call: { tool: "run_command", arguments: { command: "rm -r build", stdin: "yes please" }, workspace: "/srv/app" },
  },
  {
    kind: "tool_approval",
    title: "Raise the limit",
    call: {
      tool: "write_file",
      arguments: { path: "limits.toml", content: "limit = 20\n", stdin: "yes please" },
      workspace: "/srv/app",
      before: "limit = 10\n",
      after: "limit = 20\n",
    },
  },
];

const sandbox = (place) => place.getByRole("term").filter({ hasText: /^Sandbox$/ });

test("cards", async (t) => {
  const { server, open } = await serveTour(t);
  const page = await person(t, server);
  const find = (end) => open.find(({ title, kind }) => kind === end || title.endsWith(end));

  for (const interrupt of open) {
    await t.test(interrupt.title, async () => {
      await visitCard(page, interrupt);
      await assertSound(page, interrupt.title);
    });
  }
  for (const ask of EXTERNAL) {
    await t.test(`external: ${ask.kind}: ${ask.title}`, async () => {
      await visitCard(page, await server.agentAsks(ask));
      await assertSound(page, ask.title);
      if (!ask.call) return;
      // The call is drawn like a native one, whatever the agent says about it.
      const call = card(page).getByRole("region", { name: text("card.tool"), exact: true });
      await call.getByText(ask.call.arguments.command ?? "limit = 20").first().waitFor();
      await call.getByText(/outside the sandbox of Holdshort/).waitFor();
      // Members outside the command and the change are visible without unfolding.
      await call.getByText("yes please").first().waitFor();
      assert.equal(await sandbox(call).count(), 0);
    });
  }

  await t.test("a change side by side", async () => {
    await visitCard(page, find("edit_file: runway.txt"));
    await card(page).getByLabel(text("card.diff.sides")).check();
    await assertSound(page, "side by side", ALL);
  });

  await t.test("the edit of a plan as a list and as JSON, with an error", async () => {
    await visitCard(page, find("plan_approval"));
    await choose(page, "Edit and approve");
    const edit = card(page).getByRole("region", { name: text("card.edit"), exact: true });
    await edit.getByRole("button", { name: text("plan.edit.add") }).click();
    await edit.getByText(text("plan.wrong.text")).waitFor();
    await edit.getByRole("group", { name: text("plan.graph") }).waitFor();
    await assertSound(page, "list", ALL);
    await edit.getByRole("button", { name: text("plan.edit.text.mode") }).click();
    await edit.getByRole("textbox", { name: text("card.edit.json") }).fill("{");
    await edit.getByText(/^Invalid JSON/).waitFor();
    await assertSound(page, "JSON");
  });

  await t.test("the dialog that asks once more", async () => {
    await visitCard(page, find("pip install wind-sock"));
    await sandbox(card(page)).waitFor();
    await choose(page, "Approve");
    await page.getByRole("dialog").waitFor();
    await assertSound(page, "dialog");
    await page.keyboard.press("Escape");
  });

  await t.test("at 390 pixels every option is within reach without scrolling", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await visitCard(page, find("edit_file: runway.txt"));
    const buttons = await card(page).getByRole("group", { name: text("card.options") }).getByRole("button").all();
    for (const button of buttons) {
      const box = await button.boundingBox();
      assert(box.x >= 0 && box.x + box.width <= 390 && box.y + box.height <= 844, `${await button.textContent()} sticks out`);
      assert(box.height >= 24, "WCAG 2.2, 2.5.8");
    }
  });

  await t.test("decided, with an edit and words", async () => {
    const change = find("edit_file: runway.txt");
    await server.api("POST", `/v1/interrupts/${change.id}/decisions`, {
      option: "edit",
      text: "The wind has turned.",
      edit: { path: "runway.txt", old: "heading 27", new: "heading 18" },
    });
    await visitCard(page, change);
    await outcome(page, /approved/).waitFor();
    await assertSound(page, "decided", ALL);
  });

  await t.test("the page without scripts, open and decided", async () => {
    const bare = await visit(t, server);
    for (const interrupt of [find("pip install wind-sock"), find("question"), find("plan_approval")]) {
      const { url } = await server.api("POST", `/v1/interrupts/${interrupt.id}/links`);
      await bare.goto(url);
      await assertSound(bare, `link: ${interrupt.title}`);
      if (interrupt.kind !== "question") continue;
      await bare.getByRole("button", { name: "Skip" }).click();
      await bare.getByRole("region", { name: "How it ended" }).waitFor();
      await assertSound(bare, `link, decided: ${interrupt.title}`);
    }
  });
});
