// Everything works without a mouse, from the skip link to an empty inbox.
import assert from "node:assert/strict";
import test from "node:test";
import { person } from "./harness/browser.js";
import { card, inbox, option, outcome, shown, words } from "./harness/card.js";
import { eventually } from "./harness/eventually.js";
import { t as text } from "./harness/texts.js";
import { serveTour } from "./harness/tour.js";

const focused = (page) => page.locator(":focus");
const dialog = (page) => page.getByRole("dialog");
const has = (locator) => locator.evaluate((element) => element === document.activeElement);

/** Asserts that the focused element is visible and has a visible outline. */
async function focusIsSeen(page, where) {
  assert.equal(await focused(page).count(), 1, `${where}: nothing has the focus`);
  const seen = await focused(page).evaluate((element) => {
    const box = element.getBoundingClientRect();
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
    const isRinged = (outlineStyle !== "none" && parseFloat(outlineWidth) > 0) || boxShadow !== "none";
    return { name: element.outerHTML.slice(0, 80), isRinged, top: box.top, bottom: box.bottom, height: innerHeight };
  });
  assert(seen.isRinged, `${where}: the focus is not drawn on ${seen.name}`);
  assert(seen.bottom > 0 && seen.top < seen.height, `${where}: the focus is out of sight on ${seen.name}`);
}

/** Presses Tab until the target has the focus. */
async function tabTo(page, target, key = "Tab") {
  for (let n = 0; n < 40; n += 1) {
    if ((await target.count()) > 0 && (await has(target))) return focusIsSeen(page, "on the way");
    await page.keyboard.press(key);
  }
  assert.fail(`${target} cannot be reached with ${key}`);
}

test("keyboard only", async (t) => {
  const { server, id, open } = await serveTour(t);
  const page = await person(t, server);
  const press = (...keys) => keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());
  const item = ({ id }) => page.locator(`#item-${id}`);
  const one = (end) => open.find(({ title, kind }) => kind === end || title.endsWith(end));
  await item(open[0]).waitFor();

  await t.test("the skip link leads past the header", async () => {
    await press("Tab");
    const skip = page.getByRole("link", { name: text("app.skip") });
    assert(await has(skip));
    await focusIsSeen(page, "skip link");
    await press("Enter");
    await eventually("the content to have the focus", () => has(page.getByRole("main")));
    await press("Tab");
    assert(await has(item(open[0])), "the next stop is the first that waits");
  });

  await t.test("? shows the keys, Esc closes them", async () => {
    await press("?");
    await dialog(page).getByRole("heading", { name: text("keys.title") }).waitFor();
    await press("a", "Escape");
    await dialog(page).waitFor({ state: "detached" });
    assert(await has(item(open[0])), "the focus is where it was");
  });

  await t.test("letters can be switched off and on again, and the browser remembers it", async () => {
    const letters = dialog(page).getByRole("checkbox", { name: text("keys.letters") });
    await press("?");
    await tabTo(page, letters);
    await press("Space", "Escape");
    await dialog(page).waitFor({ state: "detached" });
    await page.reload();
    await item(open[0]).waitFor();
    await item(open[0]).focus();
    await press("j", "?");
    assert(await has(item(open[0])), "j is a letter");
    assert.equal(await dialog(page).count(), 0, "? is a letter");
    await press("Enter");
    await shown(page, open[0]);
    assert.equal(await card(page).locator("[aria-keyshortcuts]").count(), 0, "no letter is announced");
    await press("r", "i");
    assert.equal(await has(words(page)), false);
    // Keys other than letters still work.
    await press("Escape");
    await card(page).waitFor({ state: "detached" });
    await tabTo(page, page.getByRole("button", { name: text("app.keys") }), "Shift+Tab");
    await press("Enter");
    await tabTo(page, letters);
    await press("Space", "Escape");
    await dialog(page).waitFor({ state: "detached" });
    await page.reload();
    await item(open[0]).focus();
  });

  await t.test("j and k walk, Enter opens, Esc goes back", async () => {
    await press("j", "j");
    assert(await has(item(open[1])));
    await press("k");
    assert(await has(item(open[0])));
    await focusIsSeen(page, "in the list");
    await press("Enter");
    await shown(page, open[0]);
    await press("Escape");
    await card(page).waitFor({ state: "detached" });
    assert.equal(new URL(page.url()).pathname, "/");
  });

  /** Moves to an interrupt with j, from the start of the list. Keys stay text for a second after a field was
   * removed. */
  async function walk(interrupt) {
    await eventually(`${interrupt.title} to have the focus`, async () => {
      for (const key of ["k", "j"]) {
        for (let n = 0; n < 20 && !(await has(item(interrupt))); n += 1) await press(key);
      }
      return has(item(interrupt));
    });
    await focusIsSeen(page, interrupt.title);
    await press("Enter");
    await shown(page, interrupt);
  }

  async function decided(interrupt, how) {
    await outcome(page, how).waitFor();
    assert(await has(outcome(page, how)), `${interrupt.title}: the focus is on how it ended`);
    await focusIsSeen(page, interrupt.title);
    await item(interrupt).waitFor({ state: "detached" });
  }

  await t.test("where the risk is high, a asks once more and begins on the way back", async () => {
    const install = one("pip install wind-sock");
    await walk(install);
    await press("a");
    await dialog(page).getByText("pip install wind-sock").waitFor();
    assert(await has(dialog(page).getByRole("button", { name: text("card.confirm.back") })));
    await press("Enter");
    await dialog(page).waitFor({ state: "detached" });
    assert.equal((await server.api("GET", `/v1/interrupts/${install.id}`)).status, "open");
    await press("a", "Escape");
    await dialog(page).waitFor({ state: "detached" });
    // The next key works, however early it comes. Rejecting is always safe.
    await press("a");
    await dialog(page).waitFor();
    await dialog(page).evaluate((open) => {
      open.dispatchEvent(new Event("cancel", { cancelable: true }));
      open.querySelector("button").dispatchEvent(new KeyboardEvent("keydown", { key: "r", bubbles: true }));
    });
    await words(page).and(page.locator(":focus")).waitFor();
    await page.keyboard.type("Not here, jack.");
    await press("Control+Enter");
    await decided(install, /rejected by operator/);
  });

  await t.test("a releases a review after it was confirmed", async () => {
    const review = one("review");
    await walk(review);
    await press("a");
    await tabTo(page, dialog(page).getByRole("button", { name: "Approve" }), "Shift+Tab");
    await press("Enter");
    await decided(review, /approved by operator/);
  });

  await t.test("a allows at once where the risk is lower", async () => {
    const writing = one("notes/new.md");
    await walk(writing);
    await press("a");
    await decided(writing, /approved by operator/);
  });

  await t.test("e edits, Esc leaves the field and not the card, Ctrl+Enter and Enter send", async () => {
    const change = one("edit_file: runway.txt");
    await walk(change);
    await press("e");
    const edit = card(page).getByRole("region", { name: text("card.edit"), exact: true });
    await edit.waitFor();
    await eventually("a field of the edit to have the focus", () => edit.evaluate((all) => all.contains(document.activeElement)));
    await press("Escape");
    assert.equal(await edit.evaluate((all) => all.contains(document.activeElement)), false);
    await tabTo(page, edit.getByLabel(/^new/));
    await press("Control+A");
    await page.keyboard.type("heading 18");
    await press("Control+Enter");
    await focusIsSeen(page, "an edit, asked about once more");
    await press("Enter");
    await decided(change, /approved Edit and approve by operator/);
  });

  await t.test("r refuses, with a reason", async () => {
    const command = one("python3 -m unittest");
    await walk(command);
    await press("r");
    await page.keyboard.type("There are no tests.");
    await press("Control+Enter");
    await decided(command, /rejected by operator/);
    await card(page).getByText("There are no tests.").waitFor();
  });

  await t.test("i writes; Esc leaves the box and then the card, and what was written is kept", async () => {
    const question = one("question");
    await walk(question);
    await press("i");
    await page.keyboard.type("From the nor");
    await press("Escape");
    assert.equal(await has(words(page)), false);
    await press("Escape");
    await card(page).waitFor({ state: "detached" });
    await walk(question);
    await press("i");
    assert.equal(await words(page).inputValue(), "From the nor");
    await page.keyboard.type("th.");
    await press("Control+Enter");
    await decided(question, /answered by operator/);
  });

  await t.test("what no key means is reached with Tab", async () => {
    const failed = one("error");
    await walk(failed);
    await tabTo(page, option(page, "Skip"));
    await press("Enter");
    const skip = page.getByRole("dialog").getByRole("button", { name: /^Skip/ });
    await skip.waitFor();
    await tabTo(page, skip, "Shift+Tab");
    await press("Enter");
    await decided(failed, /by operator/);
  });

  await t.test("the rest, one after the other, to the end of the run", async () => {
    for (const kind of ["plan_approval", "continuation", "checkpoint"]) {
      await walk(one(kind));
      await press("a");
      await decided(one(kind), /by operator/);
    }
    await inbox(page).getByText(text("inbox.empty")).waitFor();
    await tabTo(page, card(page).getByRole("link", { name: text("card.run") }), "Shift+Tab");
    await press("Enter");
    await page.getByRole("main").getByText(text("status.completed"), { exact: true }).first().waitFor();
    assert.equal((await server.api("GET", `/v1/runs/${id}`)).status, "completed");
  });
});
