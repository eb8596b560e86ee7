// Looking at a view as everybody may see it: wide and narrow, light and dark.
import assert from "node:assert/strict";
import { assertAccessible } from "./axe.js";
import { assertFits, dress, LOOKS } from "./shots.js";

/** Every width and theme once; a view that is drawn in another way where there is room needs all of them. */
const TWO = ["1280-light", "390-dark"];
export const ALL = LOOKS.map((look) => look.name);

/**
 * No wider than the window and touchable in any look, accessible in those that are named.
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

/** WCAG 2.5.8 takes a small target where there is room around it; room depends on where a line wraps, so size counts. */
const LEAST = 24;
/** How high a target is on a phone. */
const FINGER = 44;

/** What can be touched is large enough, but for links within a sentence. */
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

/** A window as high as the page: what sticks to an edge covers what is about to be scrolled, which is no fault. */
async function showAll(page, { width }) {
  const heights = () => page.evaluate(() => ({ height: document.documentElement.scrollHeight, inner: innerHeight }));
  // Some of it grows with the window.
  for (let all = await heights(), n = 0; all.height > all.inner && n < 4; all = await heights(), n += 1) {
    await page.setViewportSize({ width, height: all.height });
  }
  await page.evaluate(() => scrollTo(0, 0));
}
