// A card on a phone, and on a small screen: no part of the decision is cut off or covered.
import assert from "node:assert/strict";
import test from "node:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { person } from "./harness/browser.js";
import { card, visitCard } from "./harness/card.js";
import { eventually } from "./harness/eventually.js";
import { serve } from "./harness/server.js";
import { t as text } from "./harness/texts.js";

const OLD = "        return round(cents * part / whole) if whole else default_share(cents)";
const NEW = "        return (2 * cents * part + whole) // (2 * whole) if whole else default_share(cents)";
const workflow = `
name: long
agents:
  guide: {instructions: Work., tools: [edit_file]}
phases:
  - {id: work, kind: one_shot, agent: guide}
`;
const rehearsal = `
agents:
  guide:
    - text: This line.
      calls:
        - {as: change, tool: edit_file, arguments: {path: share.py, old: "${OLD}", new: "${NEW}"}}
    - text: Done.
`;
/** Task of the run, with more lines than a card shows at first. */
const TASK = ["Round it.", "One cent counts.", "So does half of one.", "Ask before you write.", "Write it once.", "Say why.", "Then stop."];
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

test("a card where there is little room", async (t) => {
  const server = await serve(t, { workflows: { long: { workflow, rehearsal } } });
  writeFileSync(join(server.workspace, "share.py"), `def share(cents, part, whole):\n    if part:\n${OLD}\n    return 0\n`);
  const config = { workspace: server.workspace, model: "rehearsal" };
  const { id } = await server.api("POST", "/v1/runs", { workflow: "long", input: { task: TASK.join("\n") }, config });
  const change = await eventually("the change to wait", async () => {
    const { items } = await server.api("GET", `/v1/interrupts?run=${id}&status=open`);
    return items[0];
  });
  const phone = await person(t, server, PHONE);
  await visitCard(phone, change);

  await t.test("a long line of a change breaks, goes on below its beginning, and ends in sight", async () => {
    const region = card(phone).getByRole("region", { name: text("card.diff.title", { path: "share.py" }) });
    assert.equal(await region.evaluate((all) => all.scrollWidth - all.clientWidth), 0, "nothing is cut off");
    const lefts = await region.locator("tr.added .text bdi").evaluate((line) => {
      const range = document.createRange();
      // Left edge of the first letter of each drawn line, blanks excluded.
      const found = new Map();
      const walk = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
      for (let node = walk.nextNode(); node; node = walk.nextNode()) {
        for (let i = 0; i < node.length; i += 1) {
          if (node.data[i] === " ") continue;
          range.setStart(node, i);
          range.setEnd(node, i + 1);
          const { left, top } = range.getBoundingClientRect();
          const row = [...found.keys()].find((each) => Math.abs(each - top) < 4) ?? top;
          found.set(row, Math.min(found.get(row) ?? Infinity, left));
        }
      }
      return [...found.values()];
    });
    assert(lefts.length > 1, "the line is longer than the screen");
    for (const left of lefts.slice(1)) assert(left > lefts[0], `${lefts}: it goes on further in than it begins`);
  });

  await t.test("it breaks between words: no number and no name is torn apart", async () => {
    const torn = await card(phone).locator("tr.added .text bdi").evaluate((line) => {
      const range = document.createRange();
      const walk = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
      const found = [];
      let before = { letter: " ", top: 0 };
      for (let node = walk.nextNode(); node; node = walk.nextNode()) {
        for (let i = 0; i < node.length; i += 1) {
          range.setStart(node, i);
          range.setEnd(node, i + 1);
          const { top, height } = range.getBoundingClientRect();
          const letter = node.data[i];
          const isBelow = top > before.top + height / 2;
          if (/\w/.test(letter) && /\w/.test(before.letter) && isBelow) found.push(node.data.slice(Math.max(i - 8, 0), i + 8));
          before = { letter, top };
        }
      }
      return found;
    });
    assert.deepEqual(torn, []);
  });

  await t.test("a task of several lines is lines, and all of it is there on demand", async () => {
    const more = card(phone).getByRole("button", { name: text("card.all", { n: TASK.length }), exact: true });
    await card(phone).getByText(TASK[0]).waitFor();
    assert.equal(await card(phone).getByText(TASK.at(-1)).count(), 0);
    await more.click();
    await card(phone).getByText(TASK.at(-1)).waitFor();
    assert.deepEqual((await card(phone).getByText(TASK.at(-1)).innerText()).split("\n"), TASK, "a line break is no mark");
  });

  /** Returns the number of options in each row of the bar, and the bar's height. */
  const bar = (page) =>
    page.locator("[data-bar]").evaluate((all) => {
      const rows = new Map();
      for (const button of all.querySelectorAll("button")) {
        if (!button.checkVisibility()) continue;
        const { top, height } = button.getBoundingClientRect();
        const middle = Math.round(top + height / 2);
        rows.set(middle, (rows.get(middle) ?? 0) + 1);
      }
      return { rows: [...rows.values()], height: all.getBoundingClientRect().height };
    });

  await t.test("the options take one row of a telephone; the menu has the others", async () => {
    const { rows, height } = await bar(phone);
    assert.deepEqual(rows, [3]);
    assert(height <= 64, `${height} pixels of 844`);
  });

  await t.test("the file, the end of its change and the tabs are in the window", async () => {
    const seen = await phone.evaluate(() => {
      scrollTo(0, 0);
      const box = (selector) => document.querySelector(selector).getBoundingClientRect();
      const [header, heading, diff, bar, tabs] = ["body > header", "article h2", "article figure:has(table)", "[data-bar]", "nav"].map(box);
      return { header: header.height, heading: heading.top - header.bottom, diff: bar.top - diff.bottom, tabs: innerHeight - tabs.bottom, bar: tabs.top - bar.bottom };
    });
    assert.equal(seen.header, 48);
    assert(seen.heading > 0 && seen.diff >= 0, JSON.stringify(seen));
    assert.equal(Math.round(seen.tabs), 0);
    assert(seen.bar >= -1, JSON.stringify(seen));
  });

  await t.test("a menu has all options; Esc closes it, and the focus is on its button", async () => {
    const more = card(phone).locator("[data-more]");
    await more.click();
    await phone.locator("[data-bar] [data-option]:focus").waitFor();
    const labels = await phone.locator("[data-bar] [data-option] bdi").allTextContents();
    assert.deepEqual([...labels].sort(), change.options.map(({ label }) => label).sort());
    await phone.keyboard.press("Escape");
    assert.equal(await phone.locator("[data-bar] [data-option]:visible").count(), 2);
    assert(await more.evaluate((button) => button === document.activeElement));
    await card(phone).waitFor();
  });

  await t.test("facts in a row have their dots between them, and none at the end of a line", async () => {
    const rows = card(phone).locator("header .dots");
    for (const width of [320, 360, 390]) {
      await phone.setViewportSize({ width, height: 844 });
      const seen = await rows.evaluate((row) => {
        const clip = row.getBoundingClientRect().left + parseFloat(getComputedStyle(row).clipPath.split(" ").at(-1));
        return [...row.children].map((each, i, all) => {
          const begins = i === 0 || each.offsetTop > all[i - 1].offsetTop + 4;
          const { left } = each.getBoundingClientRect();
          // Right edge of the dot in front of the text.
          const dot = left + parseFloat(getComputedStyle(each).paddingLeft) - 8;
          return begins === dot < clip;
        });
      });
      assert(seen.length > 2 && seen.every(Boolean), `${width}: ${seen}`);
    }
  });

  await t.test("at 1280 the options stand in one row, each on one line", async () => {
    const page = await person(t, server);
    await visitCard(page, change);
    const { rows, height } = await bar(page);
    assert.deepEqual(rows, [3]);
    assert(height < 64, `${height} pixels`);
  });
});
