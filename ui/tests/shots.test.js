// Screenshots of the views for people to look at, in `ui/tests/shots`, which git ignores. They are not compared.
import test from "node:test";
import { person, visit } from "./harness/browser.js";
import { card, choose, shown, visitCard } from "./harness/card.js";
import { box, clear, openTower, say, serveTower, turns } from "./harness/conversation.js";
import { holdsShort, serveDemo } from "./harness/demo.js";
import { graph } from "./harness/plan.js";
import { serve } from "./harness/server.js";
import { shoot } from "./harness/shots.js";
import { serveSteered } from "./harness/steered.js";
import { t as text } from "./harness/texts.js";
import { serveTour } from "./harness/tour.js";

test("pictures of every view", async (t) => {
  const { server, id } = await serveDemo(t);
  const door = await visit(t, server);
  await door.goto("/login");
  await door.getByText(text("login.how")).waitFor();
  await shoot(door, "door");

  const page = await person(t, server);
  const decide = (interrupt, decision) => server.api("POST", `/v1/interrupts/${interrupt.id}/decisions`, decision);
  const whole = { fullPage: true };

  const question = await holdsShort(server, id);
  await visitCard(page, question);
  await shoot(page, "question");
  await decide(question, { option: "answer", text: "the period that begins" });
  const plan = await holdsShort(server, id);
  await visitCard(page, plan);
  await graph(card(page)).waitFor();
  await shoot(page, "plan");
  await decide(plan, { option: "approve" });
  const command = await holdsShort(server, id);
  await visitCard(page, command);
  await shoot(page, "command");
  await decide(command, { option: "approve" });

  // Further interrupts are open next to it.
  await server.agentAsks({ kind: "tool_approval", title: "Refund 120 EUR", message: "The parcel came back.", payload: { order: 4711 } });
  await server.agentAsks({ kind: "choice", title: "Which runway?", options: [{ id: "n", label: "North" }, { id: "s", label: "South" }] });
  await server.agentAsks({ kind: "review", title: "Answer to ticket 88", payload: { content: "Dear customer,\nyour box is ready." } });
  let change = await holdsShort(server, id);
  await visitCard(page, change);
  await card(page).getByLabel(text("card.diff.sides")).check();
  await page.evaluate(() => document.activeElement.blur());
  await shoot(page, "inbox");
  await decide(change, { option: "approve" });
  await decide(await holdsShort(server, id), { option: "approve_session" });
  change = await holdsShort(server, id);
  await visitCard(page, change);
  await shoot(page, "change");

  const { url } = await server.api("POST", `/v1/interrupts/${change.id}/links`);
  await door.goto(url);
  await shoot(door, "link", whole);

  await page.goto(`/runs/${id}`);
  await page.locator("#open").getByRole("article").waitFor();
  await shoot(page, "run");
  await page.goto("/grants");
  await page.getByRole("list", { name: text("grants.list") }).waitFor();
  await shoot(page, "grants");
  await page.goto("/runs");
  await page.getByRole("main").getByRole("link", { name: /^The test suite fails/ }).first().waitFor();
  await shoot(page, "runs");
  await page.goto("/runs/new");
  await page.getByRole("button", { name: text("new.start") }).waitFor();
  await shoot(page, "new-run", whole);

  await decide(change, { option: "approve" });
  for (let left = await holdsShort(server, id); left; left = await holdsShort(server, id)) {
    await decide(left, { option: left.options[0].id });
  }
  await visitCard(page, change);
  await shown(page, change);
  await shoot(page, "decided", whole);
  await page.goto(`/runs/${id}`);
  await page.getByRole("region", { name: text("run.result") }).waitFor();
  await shoot(page, "run-completed", whole);
});

test("pictures of a plan that is steered", async (t) => {
  const { server, id } = await serveSteered(t);
  const decide = (interrupt, decision) => server.api("POST", `/v1/interrupts/${interrupt.id}/decisions`, decision);
  const whole = { fullPage: true };
  await decide(await holdsShort(server, id), { option: "revise", text: "Check the numbers, too." });
  const second = await holdsShort(server, id);
  const page = await person(t, server);
  await visitCard(page, second);
  await page.getByText(text("plan.changes", { n: 1 })).waitFor();
  await shoot(page, "plan-again", whole);
  await decide(second, { option: "approve" });
  await decide(await holdsShort(server, id), { option: "continue" });
  await page.goto(`/runs/${id}`);
  const part = page.locator("[data-plan]");
  await graph(part).getByText(text("plan.status.completed")).waitFor();
  await shoot(page, "plan-run", whole);
  await part.getByRole("button", { name: text("plan.edit") }).click();
  await graph(part).waitFor();
  await shoot(page, "plan-edit", whole);
});

test("pictures of a conversation", async (t) => {
  const server = await serveTower(t);
  const page = await person(t, server);
  const session = await openTower(server);
  await page.goto("/sessions/new");
  await page.getByRole("button", { name: text("session.begin.send") }).waitFor();
  await shoot(page, "new-conversation", { fullPage: true });
  await page.goto(`/sessions/${session}`);
  await page.getByText(text("session.empty")).waitFor();
  await shoot(page, "conversation-empty");
  await say(server, session, { text: "Which runway do we take? Write it down before you call the tower." });
  await card(page).getByText("Which way is the wind?").waitFor();
  await shoot(page, "conversation-question");
  await card(page).getByLabel("from the north").check();
  await choose(page, "Answer");
  await card(page).getByText("wind.txt").first().waitFor();
  await page.evaluate(() => document.activeElement.blur());
  await shoot(page, "conversation");
  await page.keyboard.press("a");
  await turns(page).getByLabel(text("run.arriving.output")).getByText("listening").waitFor();
  await box(page).fill("Tell me when it is done.");
  await shoot(page, "conversation-at-work");
  await box(page).press("Enter");
  await page.getByRole("button", { name: text("run.interrupt") }).click();
  await page.locator("form:has(#message) button.go").waitFor();
  await shoot(page, "conversation-interrupted");
  clear(server);
  await page.locator("form:has(#message) button.go").click();
  await turns(page).getByText(/the tower has cleared us\.$/).waitFor();
  await turns(page).getByRole("button", { name: /sh listen\.sh/ }).last().click();
  await turns(page).getByRole("button", { name: /wind\.txt/ }).click();
  await shoot(page, "conversation-open", { fullPage: true });
  await page.goto("/sessions");
  await page.getByRole("main").getByRole("link", { name: /^Which runway/ }).waitFor();
  await shoot(page, "conversations");
});

test("pictures of several people", async (t) => {
  const server = await serve(t);
  for (const [id, name, group] of [["anna", "Anna Berg", "legal"], ["ben", "Ben Rath", "legal"], ["cleo", "Cleo Lind", "finance"]]) {
    await server.api("PUT", `/v1/people/${id}`, { name, roles: ["reviewer"], groups: [group], addresses: { email: `${id}@example.org` } });
  }
  await server.api("PUT", "/v1/people/cleo/away", { until: "2099-01-31T12:00:00Z", delegate: "ben" });
  const of = { kind: "tool_approval", message: "The parcel came back.", payload: { order: 4711 } };
  const two = await server.agentAsks({ ...of, title: "Refund 120 EUR", assignment: { groups: ["legal"], quorum: { required: 2 } } });
  const stages = [{ name: "law", groups: ["legal"] }, { name: "money", groups: ["finance"] }];
  const staged = await server.agentAsks({ ...of, title: "Refund 4,000 EUR", assignment: { stages, self_approval: false } });
  const anna = await visit(t, server);
  await anna.goto(await server.loginLink("anna"));
  await anna.getByRole("banner").getByText("anna").waitFor();
  await visitCard(anna, two);
  await anna.getByLabel(text("card.text.reason")).fill("The carrier has confirmed it.");
  await choose(anna, two.options[0].label);
  await anna.getByText(text("assigned.voted.others")).waitFor();
  await shoot(anna, "assigned-voted");
  const ben = await visit(t, server);
  await ben.goto(await server.loginLink("ben"));
  await ben.getByRole("banner").getByText("ben").waitFor();
  await visitCard(ben, two);
  await ben.getByText("The carrier has confirmed it.").waitFor();
  await shoot(ben, "assigned");
  const page = await person(t, server);
  await visitCard(page, staged);
  await card(page).getByText(text("assigned.you.not", { why: "" })).waitFor();
  await shoot(page, "assigned-not");
  await card(page).getByRole("button", { name: text("assigned.reassign") }).click();
  await shoot(page, "reassign");
  await page.goto("/people");
  await page.locator("[data-person=cleo]").waitFor();
  await shoot(page, "people");
  await page.getByRole("button", { name: text("people.add") }).click();
  await shoot(page, "person");
});

test("pictures of the installation", async (t) => {
  const { server, id, open } = await serveTour(t);
  const page = await person(t, server);
  await server.api("POST", "/v1/keys", { name: "build-bot", expires_in_ms: 90 * 24 * 3_600_000 });
  await server.api("POST", "/v1/system/freeze", { workflow: "tour", reason: "The release is broken." });
  await server.api("POST", "/v1/system/freeze", { agent: "guide", reason: "It invents tools." });
  await visitCard(page, open.find(({ kind }) => kind === "question"));
  await card(page).getByText("It invents tools.").waitFor();
  await shoot(page, "frozen-card");
  await page.goto(`/runs/${id}`);
  await page.getByText("The release is broken.").first().waitFor();
  await shoot(page, "frozen-run");
  await server.api("POST", "/v1/system/freeze", { reason: "A key has leaked, and nobody knows yet what it was used for." });
  await page.goto("/system");
  await page.locator('[data-freeze="all"]').waitFor();
  await page.getByText(text("freeze.banner")).waitFor();
  await shoot(page, "freezes");
  await page.keyboard.press("f");
  await page.getByRole("dialog").waitFor();
  await shoot(page, "freeze");
  await page.keyboard.press("Escape");
  await page.goto("/system/keys");
  await page.locator('[data-key="build-bot"]').waitFor();
  await shoot(page, "keys");
  await page.getByRole("button", { name: text("access.make"), exact: true }).click();
  await page.getByRole("dialog").getByLabel(text("access.name"), { exact: true }).fill("nightly");
  await page.getByRole("dialog").getByRole("button", { name: text("access.make"), exact: true }).click();
  await page.getByLabel(text("access.secret"), { exact: true }).waitFor();
  await shoot(page, "secret");
  await page.goto("/system/audit");
  await page.locator("[data-event] summary").nth(1).click();
  await page.getByText(text("audit.record.head")).waitFor();
  await page.getByRole("button", { name: text("audit.verify"), exact: true }).click();
  await page.locator("[data-intact]").waitFor();
  await shoot(page, "audit", { fullPage: true });
});
