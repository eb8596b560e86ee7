// Checks a view in every look: wide and narrow, light and dark.
import assert from "node:assert/strict";
import { assertAccessible } from "./axe.js";
import { assertFits, dress, LOOKS } from "./shots.js";

/** Looks that together cover every width and theme once. A view with a different wide layout needs `ALL`. */
const TWO = ["1280-light", "390-dark"];
export const ALL = LOOKS.map((look) => look.name);

/**
 * Asserts that a view fits the window and has large targets in every look, and is accessible in the named looks.
 * @param {import("playwright-core").Page} page
 * @param {string} what names the view in the message
 * @param {string[]} [looks]
 */
export async function assertSound(page, what, looks = TWO) {
  for (const look of LOOKS) {
    await dress(page, look);
    await assertFits(page, `${what}, ${look.name}`);
    await assertTouchable(page, `${what}, ${look.name}`, look);
    if (!looks.includes(look.name)) continue;
    await showAll(page, look);
    await assertAccessible(page, `${what}, ${look.name}`);
  }
  await dress(page, LOOKS[0]);
}

/** Minimum size of a target in pixels. WCAG 2.5.8 also accepts small targets with space around, but that space depends
 * on line wrapping. */
const LEAST = 24;
/** Minimum height of a target on a phone, in pixels. */
const FINGER = 44;

/** Asserts that targets are large enough. Links inside a sentence are exempt. */
async function assertTouchable(page, what, { width: screen }) {
  const high = screen < 640 ? FINGER : LEAST;
  const small = await page.evaluate(({ least, high }) => {
    const isSmall = (element) => {
      const { width, height } = element.getBoundingClientRect();
      const isShown = width > 1 && height > 1 && element.checkVisibility({ visibilityProperty: true });
      const isTooSmall = width < least - 0.1 || height < high - 0.1;
      return isShown && getComputedStyle(element).display !== "inline" && isTooSmall;
    };
    const all = document.querySelectorAll("a[href], button, summary, select, textarea, input:not([type=checkbox], [type=radio])");
    return [...all].filter(isSmall).map((each) => `${each.outerHTML.slice(0, 100)} ${JSON.stringify(each.getBoundingClientRect())}`);
  }, { least: LEAST, high });
  assert.equal(small.length, 0, `${what}: smaller than ${high} pixels\n${small.join("\n")}`);
}

/** Makes the window as high as the page. Otherwise sticky elements would cover content that can be scrolled, which is
 * not a fault. */
async function showAll(page, { width }) {
  const heights = () => page.evaluate(() => ({ height: document.documentElement.scrollHeight, inner: innerHeight }));
  // Some elements grow with the window.
  for (let all = await heights(), n = 0; all.height > all.inner && n < 4; all = await heights(), n += 1) {
    await page.setViewportSize({ width, height: all.height });
  }
  await page.evaluate(() => scrollTo(0, 0));
}
