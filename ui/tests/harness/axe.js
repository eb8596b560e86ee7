// Accessibility checks with axe-core: the rules of WCAG 2.2 AA and axe's best practice.
import assert from "node:assert/strict";
import axe from "axe-core";

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/**
 * @param {import("playwright-core").Page} page
 * @param {string} what names the view in the message
 */
export async function assertAccessible(page, what) {
  // The script is evaluated, because the content security policy forbids the page to load more.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe.source);
  const violations = await page.evaluate(async (values) => {
    const found = await globalThis.axe.run(document, { runOnly: { type: "tag", values } });
    return found.violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${help}\n  ${target.join(" ")}\n  ${failureSummary}`),
    );
  }, TAGS);
  assert.equal(violations.length, 0, `${what}:\n${violations.join("\n")}`);
}
