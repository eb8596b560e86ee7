// Several people with a browser each: approvers, votes, visibility, and the management of people.
import assert from "node:assert/strict";
import test from "node:test";
import { person, visit } from "./harness/browser.js";
import { card, choose, find, inbox, open, option, outcome, visitCard } from "./harness/card.js";
import { eventually } from "./harness/eventually.js";
import { serve } from "./harness/server.js";
import { t as text } from "./harness/texts.js";
import { assertSound } from "./harness/views.js";

/** Starts a server where `anna` and `ben` are members of `legal`, and `cleo` of `finance`. */
async function servePeople(t) {
  const server = await serve(t);
  await set(server, "anna", ["legal"]);
  await set(server, "ben", ["legal"]);
  await set(server, "cleo", ["finance"]);
  return server;
}

const set = (server, id, groups, roles = ["reviewer"]) => server.api("PUT", `/v1/people/${id}`, { roles, groups });

/** Opens a browser of its own, signed in as this person with a login link. */
async function as(t, server, who, options = undefined) {
  const page = await visit(t, server, options);
  await page.goto(await server.loginLink(who));
  await page.getByRole("banner").getByText(who, { exact: true }).waitFor();
  return page;
}

const ask = (server, assignment, more = {}) =>
  server.agentAsks({ kind: "tool_approval", title: "Archive 41 stale branches", assignment, ...more });

const mayNot = (page) => card(page).getByText(text("assigned.you.not", { why: "" }));
const options = (page) => card(page).getByRole("group", { name: text("card.options") });
const button = (page, key) => page.getByRole("button", { name: text(key) });
const field = (page, key) => page.getByRole("dialog").getByLabel(text(key), { exact: true });
const send = (page, key) => page.getByRole("dialog").getByRole("button", { name: text(key), exact: true }).click();
const row = (page, id) => page.locator(`[data-person="${id}"]`);

test("two of a group release it, and one takes their vote back meanwhile", async (t) => {
  const server = await servePeople(t);
  const asked = await ask(server, { groups: ["legal"], quorum: { required: 2 } });
  const [anna, ben] = [await as(t, server, "anna"), await as(t, server, "ben")];
  const approve = asked.options[0].label;
  for (const page of [anna, ben]) {
    await visitCard(page, asked);
    await card(page).getByText(text("assigned.of", { n: 2, who: text("assigned.group", { group: "legal" }) })).waitFor();
    await card(page).getByText(text("assigned.missing.other", { n: 2 })).waitFor();
  }
  await assertSound(anna, "a card that two decide");

  const voted = card(anna).getByText(text("assigned.voted", { option: approve }));
  await choose(anna, approve);
  await voted.waitFor();
  assert.equal(await options(anna).count(), 0, "nothing more to choose");
  await eventually("the focus to be somewhere again", () => anna.evaluate(() => document.activeElement !== document.body));
  await card(ben).getByText(text("assigned.missing.one")).waitFor();
  await card(ben).getByRole("listitem").filter({ hasText: `anna: ${approve}` }).waitFor();
  await assertSound(anna, "a card that waits for others");

  await button(card(anna), "assigned.back").click();
  await option(anna, approve).waitFor();
  await card(ben).getByText(text("assigned.missing.other", { n: 2 })).waitFor();
  assert.equal(await card(ben).getByText(text("assigned.votes")).count(), 0);

  // Votes with the keyboard alone.
  await anna.keyboard.press("a");
  await voted.waitFor();
  await choose(ben, approve);
  for (const page of [anna, ben]) await outcome(page, /approved .*by anna, ben/).waitFor();
});

test("on a telephone, too, somebody signs out everywhere", async (t) => {
  const server = await servePeople(t);
  const phone = await as(t, server, "anna", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const other = await as(t, server, "anna");
  await phone.getByRole("link", { name: text("nav.people") }).click();
  await button(phone, "people.leave").click();
  for (const page of [phone, other]) await page.getByText(text("login.how")).waitFor();
});

test("stages come one after the other", async (t) => {
  const server = await servePeople(t);
  const stages = [
    { name: "law", groups: ["legal"] },
    { name: "money", groups: ["finance"] },
  ];
  const asked = await ask(server, { stages });
  const [anna, cleo] = [await as(t, server, "anna"), await as(t, server, "cleo")];
  // The list already shows it, and only to the person whose turn has not come.
  await inbox(cleo).getByText(text("asked.not")).waitFor();
  assert.equal(await inbox(anna).getByText(text("asked.not")).count(), 0);
  await visitCard(cleo, asked);
  await mayNot(cleo).waitFor();
  assert.equal(await options(cleo).count(), 0);
  const now = card(cleo).locator("[aria-current=step]");
  await now.filter({ hasText: "law" }).waitFor();
  await assertSound(cleo, "a card of another stage");
  await cleo.keyboard.press("a");

  await visitCard(anna, asked);
  await choose(anna, asked.options[0].label);
  await card(anna).getByText(text("assigned.voted", { option: asked.options[0].label })).waitFor();
  await now.filter({ hasText: "money" }).waitFor();
  await choose(cleo, asked.options[0].label);
  for (const page of [anna, cleo]) await outcome(page, /approved .*by anna, cleo/).waitFor();
});

/** A gate with separation of duties: the person who starts the run may not release what it holds. */
const fourEyes = {
  workflow: `
name: guarded
agents:
  worker: {instructions: Work., tools: [run_command]}
phases:
  - {id: work, kind: one_shot, agent: worker}
gates:
  rules: [{tools: [run_command], do: ask}]
  tool_approval:
    assignment: {self_approval: false}
`,
  rehearsal: `
agents:
  worker:
    - text: I begin.
      calls: [{tool: run_command, arguments: {command: "ls"}}]
    - text: Done.
`,
};

test("whoever may not release their own work still stops it", async (t) => {
  const server = await serve(t, { workflows: { guarded: fourEyes } });
  await set(server, "olga", [], ["operator"]);
  const config = { workspace: server.workspace, model: "rehearsal" };
  const { id } = await server.api("POST", "/v1/runs", { workflow: "guarded", input: { task: "Look." }, config });
  const asked = await eventually("the gate", async () => (await server.api("GET", `/v1/interrupts?run=${id}&status=open`)).items[0]);
  const [own, olga] = [await person(t, server), await as(t, server, "olga")];
  await visitCard(own, asked);
  await card(own).getByText(text("assigned.you.not.own", { why: "" })).waitFor();
  await assertSound(own, "a card of somebody's own work");
  const labels = asked.options.filter(({ effect }) => ["respond", "refuse"].includes(effect)).map(({ label }) => label);
  assert.equal(labels.length, 2);
  for (const label of labels) await option(own, label).waitFor();
  assert.equal(await options(own).getByRole("button").count(), 2, "what releases it is not offered");
  await own.keyboard.press("a");
  await own.getByText(text("card.key.idle", { key: "a" })).waitFor();

  // Another person has all options.
  await visitCard(olga, asked);
  for (const { label } of asked.options) await (await find(olga, label)).waitFor();
  await choose(own, labels[1]);
  for (const page of [own, olga]) await outcome(page, /operator/).waitFor();
});

test("a reviewer sees what is theirs; filters, handing on and delegating", async (t) => {
  const server = await servePeople(t);
  const ofLegal = await ask(server, { groups: ["legal"] }, { title: "Of legal" });
  const ofAnna = await ask(server, { approvers: ["anna"] }, { title: "Of Anna" });
  const ofAnybody = await ask(server, undefined, { title: "Of anybody" });
  const [anna, cleo, operator] = [await as(t, server, "anna"), await as(t, server, "cleo"), await person(t, server)];
  const which = (page, key) => page.getByRole("group", { name: text("which.title") }).getByLabel(text(key), { exact: true });
  const titles = async (page, expected) => {
    for (const title of expected) await inbox(page).getByRole("link", { name: title }).waitFor();
    await assert.doesNotReject(inbox(page).getByRole("listitem").nth(expected.length).waitFor({ state: "detached" }));
  };
  await titles(anna, ["Of legal", "Of Anna"]);
  await assertSound(anna, "the inbox of a reviewer");
  await which(anna, "which.me").check();
  await titles(anna, ["Of Anna"]);
  await which(anna, "which.group").check();
  await titles(anna, ["Of legal"]);
  await which(anna, "which.all").check();
  await titles(anna, ["Of legal", "Of Anna"]);
  await cleo.getByText(text("inbox.empty")).waitFor();
  assert.equal(await cleo.getByRole("link", { name: text("nav.grants") }).count(), 0);
  await titles(operator, ["Of legal", "Of Anna", "Of anybody"]);
  await visitCard(operator, ofLegal);
  await mayNot(operator).waitFor();

  // An error about a wrong name is shown at its field.
  await visitCard(operator, ofAnybody);
  await button(card(operator), "assigned.reassign").click();
  await assertSound(operator, "the dialog to hand on");
  await field(operator, "reassign.person").fill("nobody-here");
  await send(operator, "reassign.send");
  await operator.locator("[aria-invalid=true]").waitFor();
  await field(operator, "reassign.person").fill("");
  await field(operator, "reassign.group").fill("finance");
  await send(operator, "reassign.send");
  await mayNot(operator).waitFor();
  await titles(cleo, ["Of anybody"]);
  await open(cleo, ofAnybody);
  await choose(cleo, ofAnybody.options[0].label);
  await outcome(cleo, /approved .*by cleo/).waitFor();

  await open(anna, ofAnna);
  await button(card(anna), "assigned.delegate").click();
  await field(anna, "delegate.to").fill("anna");
  await send(anna, "delegate.send");
  await anna.getByRole("dialog").getByRole("alert").waitFor();
  await field(anna, "delegate.to").fill("cleo");
  await send(anna, "delegate.send");
  await card(anna).getByText(text("assigned.instead.of", { to: "cleo", from: "anna" })).waitFor();
  await eventually("the focus to be somewhere again", () => anna.evaluate(() => document.activeElement !== document.body));
  await titles(cleo, ["Of Anna"]);
  await visitCard(cleo, ofAnna);
  await card(cleo).getByText(text("assigned.you.for", { who: "anna" })).waitFor();
  await choose(cleo, ofAnna.options[0].label);
  for (const page of [anna, cleo]) await outcome(page, /approved .*by cleo/).waitFor();

  // An interrupt that is reassigned leaves the list, and an open card closes.
  await open(anna, ofLegal);
  await server.api("POST", `/v1/interrupts/${ofLegal.id}/reassign`, { assignment: { groups: ["finance"] } });
  await titles(anna, []);
  await card(anna).waitFor({ state: "detached" });
  await anna.getByRole("alert").waitFor();
  await titles(cleo, ["Of legal"]);
});

test("a question that several answer says that one skip settles it", async (t) => {
  const server = await servePeople(t);
  const asked = await server.agentAsks({
    kind: "question",
    title: "Refund it?",
    assignment: { groups: ["legal"], quorum: { required: 2 } },
  });
  const anna = await as(t, server, "anna");
  await visitCard(anna, asked);
  await card(anna).getByText(text("assigned.missing.skip")).waitFor();
  await assertSound(anna, "a question that two answer");
});

test("an edit of one is agreed with by another, who sees it", async (t) => {
  const server = await servePeople(t);
  const asked = await server.agentAsks({
    kind: "review",
    title: "Answer to ticket 88",
    payload: { content: "Your box is ready." },
    assignment: { groups: ["legal"], quorum: { required: 2 } },
  });
  const [anna, ben] = [await as(t, server, "anna"), await as(t, server, "ben")];
  const edited = asked.options.find((each) => each.needs_edit);
  await visitCard(anna, asked);
  await choose(anna, edited.label);
  // The editor loads later. Until then, the first text box is the one for a reason.
  await card(anna).getByRole("region", { name: text("card.edit"), exact: true }).getByRole("textbox").first().fill("Your box was sent.");
  await button(card(anna), "card.edit.send.review").click();
  await send(anna, "card.edit.send.review");
  await card(anna).getByText(text("assigned.voted", { option: edited.label })).waitFor();
  await visitCard(ben, asked);
  await card(ben).getByRole("heading", { name: text("assigned.edit", { who: "anna" }) }).waitFor();
  await assertSound(ben, "an edit to agree with");
  await button(card(ben), "assigned.edit.agree").click();
  for (const page of [anna, ben]) await outcome(page, /approved .*by anna, ben/).waitFor();
  const { resolution } = await server.api("GET", `/v1/interrupts/${asked.id}`);
  assert.match(JSON.stringify(resolution.edit), /was sent/);
});

test("people are added, changed and removed, and say themselves that they are away", async (t) => {
  const server = await serve(t);
  const operator = await person(t, server);
  assert.equal(await operator.getByRole("group", { name: text("which.title") }).count(), 0, "there is nobody else");
  await operator.getByRole("link", { name: text("nav.people") }).click();
  await row(operator, "operator").waitFor();
  await button(operator, "people.add").click();
  await assertSound(operator, "a person to add");
  // The button that sends the form stays visible in a small window.
  await operator.setViewportSize({ width: 390, height: 600 });
  const sends = await operator.getByRole("dialog").getByRole("button", { name: text("people.save"), exact: true }).boundingBox();
  assert(sends.y + sends.height <= 600, "the button is in sight");
  assert(await operator.getByRole("dialog").evaluate((all) => all.scrollHeight > all.clientHeight), "the dialog is longer than its window");
  await operator.setViewportSize({ width: 1280, height: 800 });
  // Errors are shown at their fields.
  await field(operator, "people.id").fill("engine");
  await field(operator, "people.time_zone").fill("near Berlin");
  await send(operator, "people.save");
  const wrong = operator.locator("[aria-invalid=true]");
  await wrong.first().waitFor();
  assert.equal(await wrong.count(), 2);
  assert(await field(operator, "people.id").evaluate((box) => box === document.activeElement));
  await field(operator, "people.id").fill("dora");
  await field(operator, "people.time_zone").fill("Europe/Berlin");
  await field(operator, "people.addresses").fill("dora@example.org");
  await send(operator, "people.save");
  await operator.getByText(text("people.addresses.wrong", { n: 1 })).waitFor();
  await field(operator, "people.addresses").fill("email: dora@example.org");
  await field(operator, "people.groups").fill("legal, finance");
  await send(operator, "people.save");
  await row(operator, "dora").getByText("finance, legal").waitFor();
  await set(server, "ben", []);
  await row(operator, "dora").getByRole("button", { name: text("people.change") }).click();
  await field(operator, "people.name").fill("Dora Lind");
  await send(operator, "people.save");
  await row(operator, "dora").getByText("Dora Lind").waitFor();
  const { addresses, groups } = await server.api("GET", "/v1/people/dora");
  assert.deepEqual([addresses, groups], [{ email: "dora@example.org" }, ["finance", "legal"]], "the rest stays");
  await assertSound(operator, "the people");

  const dora = await as(t, server, "dora");
  await dora.goto("/people");
  await row(dora, "dora").waitFor();
  assert.equal(await dora.locator("[data-person]").count(), 1, "a reviewer sees nobody else");
  await row(dora, "dora").getByRole("button", { name: text("people.away.set") }).click();
  await field(dora, "people.away.who").fill("dora");
  await send(dora, "people.save");
  await dora.locator("[aria-invalid=true]").waitFor();
  await field(dora, "people.away.who").fill("ben");
  await field(dora, "people.away.when").fill("2099-01-31T12:00");
  await send(dora, "people.save");
  await row(dora, "dora").getByText(text("people.away.delegate", { who: "ben" })).waitFor();
  await dora.reload();
  await row(dora, "dora").getByText(text("people.away.delegate", { who: "ben" })).waitFor();
  await assertSound(dora, "somebody who is away");
  await row(dora, "dora").getByRole("button", { name: text("people.away.end") }).click();
  await row(dora, "dora").getByText(text("people.away.delegate", { who: "ben" })).waitFor({ state: "detached" });

  await row(operator, "dora").getByRole("button", { name: text("people.remove") }).click();
  await assertSound(operator, "a person to remove");
  await send(operator, "people.remove.sure");
  await row(operator, "dora").waitFor({ state: "detached" });
  await dora.reload();
  await dora.getByText(text("login.how")).waitFor();
});

test("an admin sets the hours of a group, everybody who sees all reads them, and forgets them again", async (t) => {
  const server = await servePeople(t);
  const operator = await person(t, server);
  await operator.goto("/people");
  const legal = operator.locator('[data-group="legal"]');
  await legal.getByRole("button", { name: text("hours.set") }).click();
  await assertSound(operator, "hours to set");
  // Errors are shown at their fields, both before and after the request.
  await field(operator, "people.time_zone").fill("near Berlin");
  await field(operator, "hours.week").fill("mon-fri");
  await send(operator, "people.save");
  await operator.getByText(text("hours.week.wrong", { n: 1 })).waitFor();
  await field(operator, "hours.week").fill("mon-thu: 09:00-12:00, 13:00-17:00\nfri: 9-12");
  await field(operator, "hours.holidays").fill("2026-12-25, 2027-01-01");
  await send(operator, "people.save");
  const wrong = operator.locator("[aria-invalid=true]");
  await wrong.first().waitFor();
  await field(operator, "people.time_zone").fill("Europe/Berlin");
  await field(operator, "hours.week").fill("mon-thu: 09:00-12:00, 13:00-17:00\nfri: 09:00-12:00");
  await send(operator, "people.save");
  await legal.getByText("mon-thu: 09:00-12:00, 13:00-17:00; fri: 09:00-12:00 (Europe/Berlin)").waitFor();
  await legal.getByText("2026-12-25, 2027-01-01").waitFor();
  const { items } = await server.api("GET", "/v1/groups");
  const { hours } = items.find(({ name }) => name === "legal");
  assert.deepEqual([hours.time_zone, hours.week.thu, hours.week.fri, hours.week.sat], ["Europe/Berlin", ["09:00-12:00", "13:00-17:00"], ["09:00-12:00"], undefined]);
  await assertSound(operator, "groups with hours");

  await set(server, "audrey", [], ["auditor"]);
  const audrey = await as(t, server, "audrey");
  await audrey.goto("/people");
  const seen = audrey.locator('[data-group="legal"]');
  await seen.getByText("Europe/Berlin").waitFor();
  assert.equal(await seen.getByRole("button").count(), 0, "an auditor changes nothing");

  // A reopened form contains the current values.
  await legal.getByRole("button", { name: text("hours.set") }).click();
  assert.equal(await field(operator, "hours.week").inputValue(), "mon-thu: 09:00-12:00, 13:00-17:00\nfri: 09:00-12:00");
  await operator.getByRole("dialog").getByRole("button", { name: text("people.cancel") }).click();
  await legal.getByRole("button", { name: text("hours.unset") }).click();
  await send(operator, "hours.unset.sure");
  await legal.getByText("Europe/Berlin").waitFor({ state: "detached" });
});

test("a card says what comes while nobody decides, and is put off for oneself alone", async (t) => {
  const server = await servePeople(t);
  const asked = await ask(server, { groups: ["legal"] }, {
    expires_in_ms: 86_400_000,
    reminders: { after_ms: 3_600_000 },
    escalation: [{ after_ms: 7_200_000, groups: ["finance"] }],
  });
  const [anna, ben] = [await as(t, server, "anna"), await as(t, server, "ben")];
  await inbox(anna).getByText(asked.title).waitFor();
  await visitCard(anna, asked);
  await card(anna).getByText(text("assigned.reminder"), { exact: true }).waitFor();
  await card(anna).getByText(text("assigned.group", { group: "finance" })).waitFor();

  await button(card(anna), "assigned.snooze").click();
  const later = new Date(Date.now() + 2 * 3_600_000 - new Date().getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
  await field(anna, "snooze.until").fill(later);
  await send(anna, "snooze.send");
  await button(card(anna), "assigned.unsnooze").waitFor();
  await assertSound(anna, "a card that is put off");
  await inbox(anna).getByText(asked.title).waitFor({ state: "detached" });
  await inbox(ben).getByText(asked.title).waitFor();
  await button(card(anna), "assigned.unsnooze").click();
  await inbox(anna).getByText(asked.title).waitFor();
});

test("what is withheld from a reviewer is marked, and an edit keeps it", async (t) => {
  const server = await servePeople(t);
  const secret = "DE02-1203-0000";
  const call = { tool: "pay", arguments: { iban: secret, sum: 5 }, workspace: "/srv/pay" };
  const withhold = [{ from: ["reviewer"], fields: ["/arguments/iban"] }];
  const asked = await ask(server, { groups: ["legal"] }, { title: `Pay to ${secret}`, call, withhold });
  const anna = await as(t, server, "anna");
  await visitCard(anna, asked);
  await card(anna).getByText("Withheld", { exact: true }).waitFor();
  await card(anna).getByText("/arguments/iban", { exact: true }).first().waitFor();
  // The mark is drawn as one text, not as an object with members.
  await card(anna).getByText(text("card.covered"), { exact: true }).first().waitFor();
  assert.equal(await card(anna).locator("dt").filter({ hasText: /^withheld$/ }).count(), 0);
  assert(!(await anna.content()).includes(secret), "it is nowhere in the page");
  await assertSound(anna, "a card of which something is withheld");

  const box = card(anna).locator("textarea.code, textarea[spellcheck=false]");
  await choose(anna, asked.options.find(({ id }) => id === "edit").label);
  await box.first().waitFor();
  await box.first().fill((await box.first().inputValue()).replace("5", "6"));
  await anna.keyboard.press("Control+Enter");
  await anna.getByRole("dialog").getByRole("button", { name: text("card.edit.send.call"), exact: true }).click();
  await outcome(anna, /approved .*by anna/).waitFor();
  const stands = await server.api("GET", `/v1/interrupts/${asked.id}`);
  assert.deepEqual(stands.resolution.edit, { iban: secret, sum: 6 });
});
