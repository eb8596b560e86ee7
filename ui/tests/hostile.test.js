// One table of hostile texts for the terminal, the script-less page and the app. Each shows them as text with hidden
// characters marked, and never interprets them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { person, visit } from "./harness/browser.js";
import { card, inbox, shown } from "./harness/card.js";
import { ROOT } from "./harness/program.js";
import { serve } from "./harness/server.js";
import { t as text } from "./harness/texts.js";

/** @type {{name: string, at?: string, given: string, as_text: string, as_line: string, as_lines?: string, warnings: string[]}[]} */
const ROWS = JSON.parse(readFileSync(join(ROOT, "crates/protocol/tests/hostile.json"), "utf8"));
const BOMB = `<img src=x onerror="window.__hit=1"><script>window.__hit=1</script><svg onload=window.__hit=1>`;
ROWS.push({ name: "markup that runs", given: BOMB, as_text: BOMB, as_line: BOMB, warnings: [] });

/** Elements that the app never creates from data. */
const MADE = "img, script, svg, iframe, object, embed, style, link, base, b, title, form, video, audio";

const ask = ({ at = "", given }) => ({
  kind: "tool_approval",
  title: given,
  // Blanks at the ends are trimmed, so the text is embedded.
  message: among(given),
  payload: { ...placed(at, given), deep: { list: [given] }, [`key ${given}`]: "value" },
  options: [
    { id: "approve", label: given },
    { id: "reject", label: `No: ${given}` },
  ],
});

const among = (given) => `- ${given} -`;

/** Returns a payload with the text at the pointer of its row. */
function placed(at, given) {
  const [root, ...path] = at.split("/").slice(1);
  return root === "payload" ? path.reduceRight((inner, name) => ({ [name]: inner }), given) : { text: given };
}

test("what agents write is shown as what it is", async (t) => {
  const server = await serve(t);
  const { id: run } = await server.agentStarts();
  const asked = [];
  for (const row of ROWS) asked.push({ row, interrupt: await server.agentAsks({ ...ask(row), run }) });
  const dialogs = [];
  const watch = (page) => page.on("dialog", (dialog) => (dialogs.push(dialog.message()), dialog.dismiss()));
  const isHit = (page) => page.evaluate(() => window.__hit !== undefined);

  await t.test("on its card and in the inbox", async (t) => {
    const page = await person(t, server);
    watch(page);
    for (const { row, interrupt } of asked) {
      await inbox(page).locator(`a[href="/inbox/${interrupt.id}"]`).click();
      await shown(page, interrupt);
      const seen = await card(page).evaluate((article, made) => {
        const all = (selector) => [...article.querySelectorAll(selector)].map((each) => each.textContent);
        return {
          quoted: all("blockquote bdi"),
          keys: all("blockquote dt bdi"),
          labels: all("[data-option] bdi"),
          warnings: all("section:has(> h2 + ul) li").length,
          links: [...article.querySelectorAll("a")].map((link) => link.getAttribute("href")),
          made: [...article.querySelectorAll(made)].map((each) => each.outerHTML),
        };
      }, MADE);
      const [title, message] = seen.quoted;
      const { warnings = [] } = interrupt;
      const exact = row.as_lines ?? row.as_line;
      const listed = await page.locator(`#item-${interrupt.id} .title bdi`).textContent();
      const wanted = {
        title: exact,
        message: among(row.as_text),
        listed: row.as_line,
        labels: [row.as_line, `No: ${row.as_line}`],
        warnings: warnings.length,
        links: [`/runs/${run}`],
        made: [],
      };
      const { labels, links, made } = seen;
      assert.deepEqual({ title, message, listed, labels, warnings: seen.warnings, links, made }, wanted, row.name);
      assert(seen.quoted.includes(exact), `${row.name}: as a value`);
      assert(seen.keys.some((key) => key === `key ${row.as_line}`.replaceAll("_", " ")), `${row.name}: as a key`);
      if (row.warnings.length > 0) await card(page).getByRole("region", { name: text("card.warnings") }).waitFor();
      // An external agent does not set `agent`, so that row has no warning.
      const kinds = new Set(warnings.map((warning) => warning.kind));
      if (row.at !== "/agent") assert(row.warnings.every((kind) => kinds.has(kind)), `${row.name}: warned of`);
    }
    assert.equal(await isHit(page), false);
  });

  await t.test("on the page of its run", async (t) => {
    const page = await person(t, server);
    watch(page);
    await page.goto(`/runs/${run}`);
    const panel = page.getByRole("tabpanel");
    await panel.getByText(BOMB).last().waitFor();
    const titles = await panel.locator(".title bdi").allTextContents();
    assert.deepEqual(titles, ROWS.map((row) => row.as_line));
    assert.equal(await page.getByRole("main").locator(MADE).count(), 1, "the form of the message is ours");
    await page.getByRole("tab", { name: text("run.timeline") }).click();
    await panel.getByRole("row").nth(ROWS.length).waitFor();
    assert.equal(await isHit(page), false);
  });

  await t.test("on the page without scripts", async (t) => {
    const page = await visit(t, server);
    watch(page);
    for (const { row, interrupt } of asked) {
      const { url } = await server.api("POST", `/v1/interrupts/${interrupt.id}/links`);
      await page.goto(url);
      const seen = await page.getByRole("main").evaluate((main, made) => {
        const one = (selector) => main.querySelector(selector)?.textContent;
        return {
          title: one("h2"),
          message: one("blockquote"),
          label: one("button[value=approve]"),
          links: main.querySelectorAll("a").length,
          made: main.querySelectorAll(made).length,
        };
      }, MADE.replace("form, ", ""));
      const title = row.as_lines ?? row.as_line;
      const wanted = { title, message: among(row.as_text), label: row.as_line, links: 0, made: 0 };
      assert.deepEqual(seen, wanted, row.name);
      assert.equal(await isHit(page), false);
    }
  });
  assert.deepEqual(dialogs, []);
});
