// A person with 26 open requests: the list shows what matters, a card opens at its top, and no place is lost.
import assert from "node:assert/strict";
import test from "node:test";
import { person } from "./harness/browser.js";
import { serveBusy } from "./harness/busy.js";
import { card, choose, inbox, option, outcome, sendEdit, shown, visitCard } from "./harness/card.js";
import { eventually } from "./harness/eventually.js";
import { dress, LOOKS } from "./harness/shots.js";
import { t as text } from "./harness/texts.js";
import { assertSound } from "./harness/views.js";

const row = (page, { id }) => page.locator(`#item-${id}`);
const has = (locator) => locator.evaluate((element) => element === document.activeElement);
const scrolled = (page) => page.evaluate(() => scrollY);

test("26 open requests", async (t) => {
  const { server, id, open } = await serveBusy(t);
  const page = await person(t, server);
  await row(page, open.at(-1)).waitFor();

  await t.test("no row is wider than the list, however long its reason", async () => {
    for (const look of LOOKS) {
      await dress(page, look);
      const beyond = await inbox(page).evaluate((list) => {
        const right = list.getBoundingClientRect().right;
        const parts = [...list.querySelectorAll("li a, li time, li .risk")];
        return parts.filter((part) => part.getBoundingClientRect().right > right).map((part) => part.textContent);
      });
      assert.deepEqual(beyond, [], look.name);
    }
    await assertSound(page, "a busy inbox");
  });

  await t.test("a row says when it expires", async () => {
    for (const interrupt of open) {
      const said = await row(page, interrupt).getByText(/^expires in /).count();
      assert.equal(said, interrupt.expires_at ? 1 : 0, interrupt.title);
    }
  });

  await t.test("so does a row on the page of its run; the list of runs says where they work", async () => {
    await page.goto(`/runs/${id}`);
    const which = page.getByRole("list", { name: text("run.open.which") });
    await which.getByRole("listitem").filter({ hasText: "Which of the two tables counts?" }).getByText(/^expires in /).waitFor();
    // A letter that imitates another is marked here, too.
    assert.equal(await which.locator("mark").allTextContents().then((all) => all.sort().join("")), "\u0440\u0441");
    await page.goto("/runs");
    const ours = page.getByRole("row").filter({ hasText: "Rewrite the table of the archive." });
    await ours.getByText("workspace", { exact: true }).waitFor();
    await page.goto("/");
    await row(page, open.at(-1)).waitFor();
  });

  await t.test("a row and its card say for which task, and where", async () => {
    const ours = open.find(({ title }) => title.endsWith("table.txt"));
    const [task, folder] = ["Rewrite the table of the archive.", "workspace"];
    await row(page, ours).getByText(task, { exact: true }).waitFor();
    await row(page, ours).getByText(folder, { exact: true }).waitFor();
    await row(page, ours).click();
    await shown(page, ours);
    await card(page).getByText(task, { exact: true }).waitFor();
    await card(page).getByText(server.workspace, { exact: true }).first().waitFor();
    await page.keyboard.press("Escape");
  });

  await t.test("the plan of an agent elsewhere is a list, too", async () => {
    const plan = open.find(({ title }) => title === "Move the archive");
    await row(page, plan).click();
    await shown(page, plan);
    const names = card(page).getByRole("list", { name: text("card.plan.subtasks") }).getByRole("listitem").locator("code");
    await names.first().waitFor();
    assert.deepEqual(await names.allTextContents(), ["copy", "check", "copy"]);
    await page.keyboard.press("Escape");
  });

  await t.test("what expires within minutes is said on every page, and leads there", async () => {
    await page.getByRole("link", { name: text("nav.grants") }).click();
    await page.getByText(text("grants.title"), { exact: true }).first().waitFor();
    await page.getByRole("banner").getByRole("link", { name: /^Expires in / }).click();
    const soonest = open.filter((each) => each.expires_at).sort((a, b) => (a.expires_at < b.expires_at ? -1 : 1))[0];
    await shown(page, soonest);
    await assertSound(page, "with a bar in the header");
    await page.keyboard.press("Escape");
  });

  await t.test("the next one is the one behind it; behind the last one is the first", async () => {
    const { items } = await server.api("GET", "/v1/interrupts?status=open&limit=200");
    const at = items.findIndex((each) => each.title === "Which currency?");
    await row(page, items[at]).click();
    await shown(page, items[at]);
    await choose(page, "Skip");
    await page.getByRole("dialog").getByRole("button", { name: /^Skip/ }).click();
    await outcome(page, /Skip/).waitFor();
    await row(page, items[at]).waitFor({ state: "detached" });
    await page.getByRole("link", { name: text("inbox.next") }).click();
    await shown(page, items[at + 1]);
  });

  await t.test("what was long leaves its place to the top of the next card", async () => {
    const long = open.find(({ title }) => title.endsWith("table.txt"));
    await row(page, long).click();
    await shown(page, long);
    await page.evaluate(() => scrollTo(0, 3_000));
    await eventually("the page to have scrolled", async () => (await scrolled(page)) > 2_000);
    await page.keyboard.press("j");
    await page.locator(`article[data-interrupt="${long.id}"]`).waitFor({ state: "detached" });
    await eventually("the top of the next card", async () => (await scrolled(page)) === 0);
  });

  await t.test("on a telephone a card opens at its top, and the way back leads to its row", async () => {
    const phone = await person(t, server, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    const { items } = await server.api("GET", "/v1/interrupts?status=open&limit=200");
    const far = items[18];
    await row(phone, far).scrollIntoViewIfNeeded();
    assert((await scrolled(phone)) > 500, "it is far down the list");
    const left = await scrolled(phone);
    await row(phone, far).tap();
    await shown(phone, far);
    assert.equal(await scrolled(phone), 0);
    await card(phone).getByRole("heading", { level: 2 }).first().evaluate((heading) => {
      if (heading.getBoundingClientRect().top > innerHeight / 2) throw new Error("the heading is out of sight");
    });
    await phone.getByRole("link", { name: `← ${text("inbox.back")}` }).tap();
    await card(phone).waitFor({ state: "detached" });
    assert(await has(row(phone, far)), "its row has the focus");
    const box = await row(phone, far).boundingBox();
    assert(box.y > 0 && box.y + box.height < 844, `its row is in sight: ${JSON.stringify(box)}`);
    // The browser's back button restores the list.
    const there = await scrolled(phone);
    await row(phone, far).tap();
    await shown(phone, far);
    await phone.goBack();
    await card(phone).waitFor({ state: "detached" });
    assert.equal(await scrolled(phone), there);
    assert(Math.abs(there - left) < 844);
  });

  await t.test("what expires while nobody looks is not gone without a word", async () => {
    await page.keyboard.press("Escape");
    const asked = await server.agentAsks({ kind: "question", title: "Is anybody there?", expires_in_ms: 1_000 });
    const gone = inbox(page).getByRole("region", { name: text("inbox.expired") });
    await gone.getByRole("link", { name: asked.title }).waitFor();
    await assertSound(page, "with one that expired");
    await gone.getByRole("link", { name: asked.title }).click();
    await outcome(page, /expired/).waitFor();
    await gone.waitFor({ state: "detached" });
  });
});

test("what a card cannot show is said before it is allowed", async (t) => {
  const { server, open } = await serveBusy(t);
  const page = await person(t, server);
  const find = (end) => open.find(({ title }) => title.endsWith(end));
  const dialog = page.getByRole("dialog");
  const status = async ({ id }) => (await server.api("GET", `/v1/interrupts/${id}`)).status;

  await t.test("a change that is cut: how much is missing, all of the new text, and once more before it is allowed", async () => {
    const cut = find("table.txt");
    const { diff } = cut.payload;
    assert.equal(diff.truncated, true);
    const drawn = (op) => diff.hunks.flatMap(({ lines }) => lines).filter((line) => line.op === op).length;
    const missing = text("card.diff.truncated", { added: diff.added - drawn("+"), removed: diff.removed - drawn("-") });
    // The server states the same, for clients without a card.
    assert.equal(cut.unseen, missing);
    await visitCard(page, cut);
    await card(page).getByText(missing).waitFor();
    await card(page).getByRole("button", { name: text("card.all", { n: 4_000 }) }).click();
    await card(page).getByText(/^new 3999$/m).first().waitFor();
    await page.keyboard.press("a");
    await dialog.getByText(missing).waitFor();
    await page.keyboard.press("Escape");
    assert.equal(await status(cut), "open");
    // Rejecting needs no confirmation.
    await choose(page, "Reject");
    await outcome(page, /rejected/).waitFor();
  });

  await t.test("a new file is shown to its end", async () => {
    const made = find("fresh.txt");
    assert.equal(made.payload.diff.truncated, true);
    await visitCard(page, made);
    await card(page).getByText("line 3999", { exact: true }).waitFor();
    assert.equal(await card(page).getByText(/^Not shown here/).count(), 0);
    await choose(page, "Approve");
    await outcome(page, /approved/).waitFor();
  });

  await t.test("a letter that passes for another is marked where it stands, also in the confirmation", async () => {
    const install = open.find(({ title }) => title.includes("pip install \u0440"));
    const marked = (place) => place.locator("code mark").filter({ hasText: /^\u0440$/ }).first();
    await visitCard(page, install);
    await marked(card(page)).waitFor();
    await choose(page, "Approve");
    await marked(dialog).waitFor();
    await dialog.getByRole("region", { name: text("card.warnings") }).waitFor();
    await assertSound(page, "a confirmation with a warning");
    await page.keyboard.press("Escape");
  });

  await t.test("in the list, too", async () => {
    const fetching = open.find(({ title }) => title.includes("url -d"));
    await row(page, fetching).getByText(text("card.warnings")).waitFor();
    assert.equal(await row(page, fetching).locator(".title mark").textContent(), "\u0441");
  });

  await t.test("to refuse what is risky does not ask again", async () => {
    const install = open.find(({ title }) => title.includes("pip install \u0440"));
    await choose(page, "Reject");
    await outcome(page, /rejected/).waitFor();
    assert.equal(await status(install), "resolved");
  });

  await t.test("an edit that changes nothing is not sent as one", async () => {
    const command = find("python3 -m unittest");
    await visitCard(page, command);
    await choose(page, "Edit and approve");
    const run = text("card.edit.send.command");
    const send = option(page, run);
    await page.getByRole("button", { name: text("card.edit.same", { option: run }) }).waitFor();
    assert.equal(await send.getAttribute("aria-disabled"), "true");
    // A forced click tests that the disabled button sends nothing.
    await send.click({ force: true });
    await page.keyboard.press("Control+Enter");
    const edit = card(page).getByRole("region", { name: text("card.edit"), exact: true });
    // Blanks are not a change.
    await edit.getByRole("button", { name: text("card.edit.json") }).click();
    await edit.getByRole("textbox", { name: text("card.edit.json") }).fill('{"command":   "python3 -m unittest"}');
    // A forced click tests that the disabled button sends nothing.
    await send.click({ force: true });
    assert.equal(await status(command), "open");
    await assertSound(page, "an edit without a change");
    await edit.getByRole("textbox", { name: text("card.edit.json") }).fill('{"command": "python3 -m unittest -v"}');
    await sendEdit(page, "command");
    await outcome(page, /approved Edit and approve/).waitFor();
  });
});
