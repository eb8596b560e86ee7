// An edit: begun, left, continued and sent. Exactly the edit that was shown is sent.
import assert from "node:assert/strict";
import test from "node:test";
import { person } from "./harness/browser.js";
import { card, choose, option, outcome, shown, visitCard, words } from "./harness/card.js";
import { t as text } from "./harness/texts.js";
import { serveTour } from "./harness/tour.js";
import { assertSound } from "./harness/views.js";

const editor = (page) => card(page).getByRole("region", { name: text("card.edit"), exact: true });
const dialog = (page) => page.getByRole("dialog");
const button = (page, key, values) => card(page).getByRole("button", { name: text(key, values), exact: true });
const has = (locator) => locator.evaluate((element) => element === document.activeElement);

/** Returns the distance in pixels between an element's lower edge and the bar; negative if the bar covers it. */
const free = (page, locator) =>
  locator.evaluate((element) => {
    const bar = document.querySelector("[data-bar]").getBoundingClientRect();
    return bar.top - element.getBoundingClientRect().bottom;
  });

test("an edit is sent as it is shown, and never by chance", async (t) => {
  const { server, open } = await serveTour(t);
  const page = await person(t, server);
  const one = (end) => open.find(({ title, kind }) => kind === end || title.endsWith(end));
  const status = async ({ id }) => (await server.api("GET", `/v1/interrupts/${id}`)).status;
  const command = one("python3 -m unittest");
  const run = text("card.edit.send.command");

  await t.test("what is edited is in sight, and cannot be sent before it says something else", async () => {
    await visitCard(page, command);
    await page.keyboard.press("e");
    const field = editor(page).getByLabel(/^command/);
    await field.and(page.locator(":focus")).waitFor();
    assert((await free(page, field)) >= 0, "the bar covers what is edited");
    const send = button(page, "card.edit.same", { option: run });
    assert.equal(await send.getAttribute("aria-disabled"), "true");
    await send.click({ force: true });
    assert.equal(await dialog(page).count(), 0);
    await editor(page).getByRole("button", { name: text("card.edit.json") }).click();
    await editor(page).getByRole("textbox", { name: text("card.edit.json") }).fill('{"command":');
    assert.equal(await button(page, "card.edit.wrong", { option: run }).getAttribute("aria-disabled"), "true");
    await editor(page).getByRole("textbox", { name: text("card.edit.json") }).fill('{"command": "rm -rf /"}');
    assert.equal(await button(page, "card.edit.send.command").getAttribute("aria-disabled"), "false");
    await assertSound(page, "an edit that can be sent");
  });

  await t.test("the way back to the options drops the edit, and leads to them", async () => {
    await button(page, "card.edit.back").click();
    await editor(page).waitFor({ state: "detached" });
    assert(await has(card(page).locator("[data-more]")), "the focus is on the menu with the option that opened the edit");
    await page.reload();
    await shown(page, command);
    assert.equal(await editor(page).count(), 0);
    assert.equal(await card(page).getByText(text("card.begun")).count(), 0);
    // The edit was dropped, so the editor begins with the original.
    await page.keyboard.press("e");
    assert.equal(await editor(page).getByLabel(/^command/).inputValue(), "python3 -m unittest");
    await button(page, "card.edit.back").click();
  });

  await t.test("an edit that was being typed is offered when the card opens again, and not open", async () => {
    await page.keyboard.press("e");
    await editor(page).getByLabel(/^command/).fill("python3 -m unittest -v");
    await page.reload();
    await shown(page, command);
    await card(page).getByText(text("card.begun")).waitFor();
    assert.equal(await editor(page).count(), 0);
    await option(page, "Approve").waitFor();
    await assertSound(page, "an edit that was begun");
    // An option that ignores the edit warns and asks for confirmation.
    await page.keyboard.press("a");
    await dialog(page).getByText(text("card.confirm.unused")).waitFor();
    await page.keyboard.press("Escape");
    await button(page, "card.begun.go").click();
    assert.equal(await editor(page).getByLabel(/^command/).inputValue(), "python3 -m unittest -v");
    await button(page, "card.edit.back").click();
    await page.keyboard.press("e");
    await editor(page).getByLabel(/^command/).fill("ls");
    await page.reload();
    await shown(page, command);
    await button(page, "card.begun.drop").click();
    await page.reload();
    await shown(page, command);
    assert.equal(await card(page).getByText(text("card.begun")).count(), 0);
  });

  await t.test("words that go with a decision stand at its options", async () => {
    await words(page).fill("Only the quick ones.");
    await page.reload();
    await shown(page, command);
    const with_it = card(page).getByRole("group", { name: text("card.options") }).getByText("Only the quick ones.");
    await with_it.waitFor();
    await words(page).fill("");
    await with_it.waitFor({ state: "detached" });
  });

  await t.test("of medium risk or not, an edited call asks once more: old and new, and Enter runs it", async () => {
    assert.equal(command.risk.level, "medium");
    await words(page).fill("With names.");
    await choose(page, "Edit and approve");
    await editor(page).getByLabel(/^command/).fill("python3 -m unittest -v");
    await page.keyboard.press("Control+Enter");
    await dialog(page).getByRole("heading", { name: `${run}?` }).waitFor();
    const lines = dialog(page).getByRole("figure").locator("tbody tr");
    // The comparison loads when it is first shown.
    await lines.first().waitFor();
    const rows = await lines.evaluateAll((all) => all.map((row) => [row.className, row.lastElementChild.textContent]));
    assert.deepEqual(rows.map(([tone, line]) => [tone.split(" ")[0], line]), [
      ["removed", "python3 -m unittest"],
      ["added", "python3 -m unittest -v"],
    ]);
    await dialog(page).getByText("With names.").waitFor();
    assert.equal(await status(command), "open");
    await assertSound(page, "an edit, asked about once more");
    assert(await has(dialog(page).getByRole("button", { name: run })), "Enter runs it");
    await page.keyboard.press("Enter");
    await outcome(page, /approved Edit and approve/).waitFor();
    const { resolution } = await server.api("GET", `/v1/interrupts/${command.id}`);
    assert.deepEqual([resolution.edit, resolution.text], [{ command: "python3 -m unittest -v" }, "With names."]);
  });

  await t.test("each kind is sent under a name of its own, and asks", async () => {
    for (const [interrupt, label, name, drawn] of [
      [one("edit_file: runway.txt"), "Edit and approve", "card.edit.send.change", /^new/],
      [one("review"), "Edit and approve", "card.edit.send.review", /./],
    ]) {
      await visitCard(page, interrupt);
      await choose(page, label);
      await editor(page).getByLabel(drawn).first().fill("heading 18");
      await button(page, name).click();
      await dialog(page).getByRole("heading", { name: `${text(name)}?` }).waitFor();
      await dialog(page).getByText("heading 18").first().waitFor();
      await page.keyboard.press("Escape");
      await button(page, "card.edit.back").click();
    }
    await visitCard(page, one("plan_approval"));
    await choose(page, "Edit and approve");
    await button(page, "card.edit.same", { option: text("card.edit.send.plan") }).waitFor();
    await editor(page).getByRole("button", { name: text("plan.edit.text.mode") }).click();
    await editor(page).getByRole("textbox", { name: text("card.edit.json") }).fill("{");
    assert.equal(await button(page, "card.edit.wrong", { option: text("card.edit.send.plan") }).getAttribute("aria-disabled"), "true");
  });

  await t.test("Ctrl+Enter sends words only with what was chosen for them", async () => {
    const install = one("pip install wind-sock");
    await visitCard(page, install);
    await page.keyboard.press("i");
    await page.keyboard.type("Why this one?");
    assert.equal(await card(page).getByText(text("card.text.sends")).count(), 0);
    await page.keyboard.press("Control+Enter");
    await card(page).getByRole("status").filter({ hasText: text("card.text.choose") }).waitFor();
    assert.equal(await status(install), "open");
    await page.keyboard.press("Escape");
    await page.keyboard.press("r");
    await card(page).getByText(text("card.text.sends")).waitFor();
    await page.keyboard.press("Control+Enter");
    await outcome(page, /rejected/).waitFor();
  });

  await t.test("a key that cannot act says why", async () => {
    await visitCard(page, one("question"));
    for (const key of ["a", "e", "r"]) {
      await page.keyboard.press(key);
      await card(page).getByRole("status").filter({ hasText: text("card.key.idle", { key }) }).waitFor();
    }
    assert.equal(await status(one("question")), "open");
  });
});
