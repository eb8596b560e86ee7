// The installation in the browser: freezes, keys of agents, and the journal. Also covers which parts of each other
// people see.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import test from "node:test";
import { person, visit } from "./harness/browser.js";
import { card, choose, find, inbox, option, outcome, visitCard } from "./harness/card.js";
import { eventually } from "./harness/eventually.js";
import { serve } from "./harness/server.js";
import { startTour, TOUR } from "./harness/tour.js";
import { t as text } from "./harness/texts.js";
import { assertSound } from "./harness/views.js";

const set = (server, id, roles, groups = []) => server.api("PUT", `/v1/people/${id}`, { roles, groups });

/** Opens a browser of its own, signed in as this person with a login link. */
async function as(t, server, who) {
  const page = await visit(t, server);
  await page.goto(await server.loginLink(who));
  await page.getByRole("banner").getByText(who, { exact: true }).waitFor();
  return page;
}

const dialog = (page) => page.getByRole("dialog");
const field = (page, key) => dialog(page).getByLabel(text(key), { exact: true });
const button = (page, key, values) => page.getByRole("button", { name: text(key, values), exact: true });
const send = (page, key) => button(dialog(page), key).click();
const banner = (page) => page.getByText(text("freeze.banner"));
const held = (page, what) => page.getByText(text("freeze.held", { what }));
const row = (page, name) => page.locator(`[data-freeze="${name}"]`);

test("one key freezes everything, everybody who may read sees why, and who may lifts it", async (t) => {
  const server = await serve(t);
  await set(server, "otto", ["auditor"]);
  const [operator, otto] = [await person(t, server), await as(t, server, "otto")];
  // The code for the key is a chunk of its own.
  await operator.locator(".banner").waitFor({ state: "attached" });
  await operator.keyboard.press("f");
  await dialog(operator).waitFor();
  await assertSound(operator, "the dialog that freezes");
  await send(operator, "freeze.do");
  await operator.locator("[aria-invalid=true]").waitFor();
  await field(operator, "freeze.reason").fill("a leak in the payout service");
  await send(operator, "freeze.do");
  for (const page of [operator, otto]) {
    await banner(page).waitFor();
    await page.getByText("a leak in the payout service").waitFor();
  }
  await assertSound(operator, "a frozen installation");
  const { freezes } = await server.api("GET", "/v1/system");
  assert.deepEqual([freezes.length, freezes[0].by, freezes[0].reason], [1, "operator", "a leak in the payout service"]);

  // A read-only person has no button and no key.
  await otto.keyboard.press("f");
  assert.equal(await button(otto, "freeze.lift").count(), 0);
  await otto.getByRole("link", { name: text("freeze.see") }).click();
  await row(otto, "all").getByText("a leak in the payout service").waitFor();
  assert.equal(await dialog(otto).count(), 0);
  assert.equal(await otto.getByRole("button", { name: text("freeze.do") }).count(), 0);

  // A second freeze is rejected, with the reason of the active one.
  await operator.keyboard.press("f");
  await field(operator, "freeze.reason").fill("another matter");
  await send(operator, "freeze.do");
  await dialog(operator).getByRole("alert").getByText("a leak in the payout service").waitFor();
  await send(operator, "people.cancel");
  await button(operator, "freeze.lift").click();
  await dialog(operator).getByText("a leak in the payout service").waitFor();
  await send(operator, "freeze.lift");
  for (const page of [operator, otto]) await banner(page).waitFor({ state: "detached" });
  await otto.getByText(text("freeze.nothing")).waitFor();

  // Letters do nothing while single-letter keys are off.
  await operator.keyboard.press("?");
  await dialog(operator).getByText(text("keys.freeze")).waitFor();
  await dialog(operator).getByRole("checkbox", { name: text("keys.letters") }).uncheck();
  await send(operator, "keys.close");
  await operator.keyboard.press("f");
  assert.equal(await dialog(operator).count(), 0);
});

test("parts are frozen from the page of a run and from the list, and said where they hold something up", async (t) => {
  const server = await serve(t, { workflows: { tour: TOUR } });
  const { id, open } = await startTour(server);
  const operator = await person(t, server);
  await operator.goto(`/runs/${id}`);
  await operator.getByRole("button", { name: text("freeze.do.run") }).click();
  await field(operator, "freeze.reason").fill("it reads too much");
  await assertSound(operator, "the dialog that freezes a run");
  await send(operator, "freeze.do");
  await held(operator, text("freeze.run", { name: id })).waitFor();
  assert.equal(await operator.getByRole("button", { name: text("freeze.do.run") }).count(), 0, "once is enough");
  await operator.getByRole("button", { name: text("freeze.do.workflow") }).click();
  await field(operator, "freeze.reason").fill("not this week");
  await send(operator, "freeze.do");
  await held(operator, text("freeze.workflow", { name: "tour" })).waitFor();
  await assertSound(operator, "a run that is frozen");

  const question = open.find(({ kind }) => kind === "question");
  // Each row of the inbox shows it, and the card does from its first frame: content must not move under a click.
  await operator.goto("/");
  const rows = inbox(operator).locator('a[href^="/inbox/"]');
  await rows.first().waitFor();
  assert.equal(await rows.getByText(text("card.frozen"), { exact: true }).count(), await rows.count());
  await operator.addInitScript(() => {
    new MutationObserver((_, observer) => {
      const shown = document.querySelector("article");
      if (!shown) return;
      observer.disconnect();
      requestAnimationFrame(() => (document.documentElement.dataset.first = shown.innerText));
    }).observe(document, { childList: true, subtree: true });
  });
  await visitCard(operator, question);
  const first = await eventually("the card to be drawn", () => operator.evaluate(() => document.documentElement.dataset.first));
  assert.match(first, /it reads too much|not this week/);
  await card(operator).getByText("it reads too much").waitFor();
  await card(operator).getByText("not this week").waitFor();
  await assertSound(operator, "a card that is frozen");

  await operator.goto("/system");
  await row(operator, "tour").waitFor();
  await row(operator, id).getByRole("button").click();
  await send(operator, "freeze.lift");
  await row(operator, id).waitFor({ state: "detached" });
  await eventually("the focus to be somewhere again", () => operator.evaluate(() => document.activeElement !== document.body));
  await operator.getByRole("button", { name: text("freeze.do") }).click();
  await dialog(operator).getByLabel(text("freeze.what"), { exact: true }).selectOption("agent");
  await field(operator, "freeze.name.agent").fill("nobody");
  await dialog(operator).getByText(text("freeze.name.doubt")).waitFor();
  await field(operator, "freeze.name.agent").fill("guide");
  await dialog(operator).getByText(text("freeze.name.doubt")).waitFor({ state: "detached" });
  await field(operator, "freeze.reason").fill("it invents tools");
  await send(operator, "freeze.do");
  await row(operator, "guide").getByText("it invents tools").waitFor();
  await assertSound(operator, "what is frozen");
  await visitCard(operator, question);
  await card(operator).getByText("it invents tools").waitFor();
  // The freeze is lifted by another client, without a reload.
  await server.api("POST", "/v1/system/unfreeze", { agent: "guide" });
  await card(operator).getByText("it invents tools").waitFor({ state: "detached" });
});

test("what is frozen lets an agent elsewhere do nothing, and can be refused", async (t) => {
  const server = await serve(t);
  const asked = await server.agentAsks({ kind: "tool_approval", title: "Archive 41 stale branches" });
  const released = asked.options.filter(({ effect }) => effect !== "refuse");
  const refusal = asked.options.find(({ effect }) => effect === "refuse");
  await server.api("POST", "/v1/system/freeze", { reason: "a leak" });
  const page = await person(t, server);
  await visitCard(page, asked);
  await banner(page).waitFor();
  await card(page).getByText(/: only decisions that stop the agent are accepted until the freeze is lifted$/).waitFor();
  for (const { label } of released) {
    assert(await (await find(page, label)).isDisabled(), label);
    await option(page, label).getByText(text("card.frozen"), { exact: true }).waitFor();
  }
  await assertSound(page, "a call that is frozen");
  await page.keyboard.press("a");
  await card(page).getByRole("status").filter({ hasText: text("card.frozen") }).waitFor();
  // The card follows a lift and a freeze live.
  await server.api("POST", "/v1/system/unfreeze", {});
  await eventually("what releases it to be back", () => option(page, released[0].label).isEnabled());
  await server.api("POST", "/v1/system/freeze", { reason: "another leak" });
  await eventually("what releases it to be refused", () => option(page, released[0].label).isDisabled());
  await choose(page, refusal.label);
  await outcome(page, /rejected .*by operator/).waitFor();
});

test("the page says that a card did not load", async (t) => {
  const server = await serve(t, { workflows: { tour: TOUR } });
  const { id, open } = await startTour(server);
  await server.api("POST", "/v1/system/freeze", { run: id, reason: "it reads too much" });
  const page = await person(t, server);
  await page.route(/\/card\.js$/, (route) => route.abort());
  await page.goto(`/inbox/${open.find(({ kind }) => kind === "question").id}`);
  await page.getByRole("region", { name: text("inbox.one") }).getByRole("button", { name: text("app.reload") }).waitFor();
});

test("an admin makes, rotates and revokes keys; a secret is shown once and stays nowhere", async (t) => {
  const server = await serve(t);
  await set(server, "olga", ["operator"]);
  const [admin, olga] = [await person(t, server, { whole: true }), await as(t, server, "olga")];
  await olga.goto("/system/keys");
  await olga.getByText(text("access.admins")).waitFor();
  await admin.goto("/system/keys");
  await admin.getByText(text("access.none")).waitFor();
  await button(admin, "access.make").click();
  await assertSound(admin, "a key to make");
  await field(admin, "access.name").fill("Build Bot");
  await send(admin, "access.make");
  await admin.locator("[aria-invalid=true]").waitFor();
  await field(admin, "access.name").fill("build-bot");
  await dialog(admin).getByLabel(text("access.expires"), { exact: true }).selectOption("90");
  await send(admin, "access.make");
  const shown = dialog(admin).getByLabel(text("access.secret"), { exact: true });
  await shown.waitFor();
  await assertSound(admin, "the secret of a key");
  const secret = (await shown.textContent()).trim();
  const known = async (token) => (await fetch(`${server.base}/v1/login`, { headers: { authorization: `Bearer ${token}` } })).status;
  assert.equal(await known(secret), 200);
  await dialog(admin).getByRole("button", { name: text("system.copy") }).click();
  await dialog(admin).getByText(text("system.copied")).waitFor();
  await send(admin, "access.secret.done");
  // The copied secret can be pasted.
  await button(admin, "access.make").click();
  await field(admin, "access.name").press("Control+V");
  assert.equal(await field(admin, "access.name").inputValue(), secret);
  await send(admin, "people.cancel");
  const key = admin.locator('[data-key="build-bot"]');
  await key.getByText(text("access.status.live"), { exact: true }).waitFor();
  await assertSound(admin, "the keys");
  const gone = await admin.evaluate((secret) => {
    const kept = [document.documentElement.outerHTML, location.href, JSON.stringify(history.state), ...Object.values(localStorage), ...Object.values(sessionStorage)];
    return kept.every((text) => !text?.includes(secret));
  }, secret);
  assert(gone, "nothing of the page has the secret");

  await key.getByRole("button", { name: text("access.rotate.of", { name: "build-bot" }) }).click();
  await dialog(admin).getByLabel(text("access.overlap"), { exact: true }).selectOption("1");
  await send(admin, "access.rotate");
  await shown.waitFor();
  const next = (await shown.textContent()).trim();
  await admin.keyboard.press("Escape");
  assert.deepEqual([await known(secret), await known(next)], [200, 200], "both count for an hour");
  await key.getByText(text("access.rotated")).waitFor();
  await key.getByRole("button", { name: text("access.revoke.of", { name: "build-bot" }) }).click();
  await assertSound(admin, "a key to revoke");
  await send(admin, "access.revoke");
  await key.getByText(text("access.status.revoked"), { exact: true }).waitFor();
  assert.deepEqual([await known(secret), await known(next)], [401, 401]);
  await eventually("the focus to be somewhere again", () => admin.evaluate(() => document.activeElement !== document.body));
});

test("the journal is searched, shown as it is stored, and verified", async (t) => {
  const server = await serve(t);
  await set(server, "otto", ["auditor"]);
  await set(server, "rita", ["reviewer"]);
  const asked = await server.agentAsks({ kind: "tool_approval", title: "Delete <b>41</b> stale branches" });
  await server.api("POST", `/v1/interrupts/${asked.id}/decisions`, { option: "approve" });
  for (let n = 0; n < 30; n += 1) {
    await server.api("POST", "/v1/system/freeze", { reason: "a drill" });
    await server.api("POST", "/v1/system/unfreeze", {});
  }
  const otto = await as(t, server, "otto");
  await otto.goto("/system/audit");
  const rows = otto.locator("[data-event]");
  await rows.nth(49).waitFor();
  assert.equal(await rows.count(), 50, "one page");
  await assertSound(otto, "the journal");
  await button(otto, "audit.older").click();
  await rows.nth(50).waitFor();

  const box = (key) => otto.getByLabel(text(key), { exact: true });
  await box("audit.stream").fill("not an id");
  await button(otto, "audit.find").click();
  await otto.locator("[aria-invalid=true]").waitFor();
  await box("audit.stream").fill(asked.run);
  await box("audit.type").fill("interrupt_opened");
  await button(otto, "audit.find").click();
  const opened = otto.locator(`[data-event^="${asked.run}/"]`);
  await eventually("one event", async () => (await rows.count()) === 1);
  await opened.locator("summary").click();
  await opened.getByText("Delete <b>41</b> stale branches").waitFor();
  await assertSound(otto, "a record of the journal");
  const [, seq] = (await opened.getAttribute("data-event")).split("/");
  const record = await server.api("GET", `/v1/audit/events/${asked.run}/${seq}`);
  await opened.getByText(record.hash, { exact: true }).waitFor();
  await opened.getByText(record.previous, { exact: true }).waitFor();
  const hash = createHash("sha256").update(Buffer.from(record.previous, "hex")).update(record.head).digest("hex");
  assert.equal(hash, record.hash, "whoever looks can check it");

  await box("audit.stream").fill("");
  await box("audit.type").fill("");
  await box("audit.actor").fill("nobody");
  await button(otto, "audit.find").click();
  await otto.getByText(text("audit.none")).waitFor();

  const { head } = await server.api("GET", "/v1/audit/head");
  await otto.getByText(head, { exact: true }).waitFor();
  await otto.getByLabel(text("audit.verify.against"), { exact: true }).fill(head);
  await button(otto, "audit.verify").click();
  await otto.locator('[data-intact="true"]').getByText(text("audit.verify.holds", { head })).waitFor();
  await assertSound(otto, "a journal that was verified");
  await otto.getByLabel(text("audit.verify.against"), { exact: true }).fill(`1:${"0".repeat(24)}`);
  await button(otto, "audit.verify").click();
  await otto.locator('[data-intact="false"]').waitFor();

  // Verification can be stopped. The page then reports no result.
  let letGo;
  const held = new Promise((resolve) => (letGo = resolve));
  await otto.route("**/v1/audit/verify*", async (route) => {
    await held;
    await route.continue().catch(() => undefined);
  });
  await button(otto, "audit.verify").click();
  await button(otto, "audit.verify.stop").click();
  await otto.getByText(text("audit.verify.stopped")).waitFor();
  letGo();
  await otto.unrouteAll({ behavior: "ignoreErrors" });

  const asksInfo = [];
  const rita = await visit(t, server);
  rita.on("request", (request) => /\/v1\/(info|system|audit|keys)/.test(request.url()) && asksInfo.push(request.url()));
  await rita.goto(await server.loginLink("rita"));
  await rita.getByRole("banner").getByText("rita", { exact: true }).waitFor();
  await rita.getByText(text("inbox.empty")).waitFor();
  assert.equal(await rita.getByRole("link", { name: text("nav.system") }).count(), 0);
  await rita.goto("/system/audit");
  await rita.getByText(text("system.not")).waitFor();
  assert.deepEqual(asksInfo, [], "a reviewer's page asks for nothing that it is refused");
});

test("rows of the inbox say who is asked and who has voted, and the badge counts what waits for them", async (t) => {
  const server = await serve(t);
  for (const id of ["anna", "ben"]) await set(server, id, ["reviewer"], ["legal"]);
  await set(server, "cleo", ["reviewer"], ["finance"]);
  const two = await server.agentAsks({ kind: "tool_approval", title: "Of two", assignment: { groups: ["legal"], quorum: { required: 2 } } });
  const stages = [
    { name: "law", groups: ["legal"] },
    { name: "money", groups: ["finance"] },
  ];
  const staged = await server.agentAsks({ kind: "tool_approval", title: "Of stages", assignment: { stages } });
  const [anna, operator] = [await as(t, server, "anna"), await person(t, server)];
  const line = (page, title) => inbox(page).getByRole("link", { name: title });
  await line(anna, "Of two").getByText(text("asked.votes", { n: 0, of: 2 })).waitFor();
  await line(anna, "Of stages").getByText(text("asked.stage", { n: 1, of: 2, name: " (law)" })).waitFor();
  await assertSound(anna, "an inbox that says who is asked");
  await visitCard(anna, two);
  await choose(anna, two.options[0].label);
  await line(anna, "Of two").getByText(text("asked.votes", { n: 1, of: 2 })).waitFor();
  const you = line(anna, "Of two").getByText(text("asked.you"));
  await you.waitFor();
  const edges = await you.evaluate((said) => [said.getBoundingClientRect().right, said.parentElement.getBoundingClientRect().right]);
  assert(edges[0] <= edges[1], `${edges}: what concerns her is not cut off`);
  await anna.goto("/");
  const places = anna.getByRole("navigation", { name: text("app.navigation") });
  // An interrupt that waits for others after her vote is in the list, but not in the count.
  await line(anna, "Of two").waitFor();
  await places.getByText("1", { exact: true }).waitFor();
  await anna.getByLabel(text("which.me"), { exact: true }).check();
  await anna.getByText(text("inbox.empty")).waitFor();
  await places.getByText("1", { exact: true }).waitFor();

  const approve = (who, interrupt) => as(t, server, who).then(async (page) => {
    await visitCard(page, interrupt);
    await choose(page, interrupt.options[0].label);
    return page;
  });
  await approve("ben", staged);
  const cleo = await approve("cleo", staged);
  await outcome(cleo, /approved .*by ben, cleo/).waitFor();
  await card(cleo).getByRole("listitem").filter({ hasText: "money" }).getByText(text("assigned.stage.done")).waitFor();
  await assertSound(cleo, "a card that went through its stages");

  // The delegates, and the number of open interrupts of each group.
  await server.api("POST", `/v1/interrupts/${two.id}/delegate`, { from: "ben", to: "cleo", until: "2099-01-31T12:00:00Z" });
  await server.api("PUT", "/v1/people/ben/away", { delegate: "anna" });
  await operator.goto("/people");
  const group = operator.locator('[data-group="legal"]');
  await group.getByText(text("groups.waiting", { n: 1 })).waitFor();
  await group.getByText("anna, ben").waitFor();
  await operator.getByText(text("stand.one", { to: "anna", from: "ben" })).waitFor();
  await operator.getByText(text("stand.one", { to: "cleo", from: "ben" })).waitFor();
  await operator.getByRole("link", { name: "Of two" }).waitFor();
  await assertSound(operator, "people, groups and who stands in");
});
