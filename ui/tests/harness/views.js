// Looking at a view as everybody may see it: wide and narrow, light and dark.
import { assertAccessible } from "./axe.js";
import { assertFits, dress, LOOKS } from "./shots.js";

/** Every width and theme once; a view that is drawn in another way where there is room needs all of them. */
const TWO = ["1280-light", "390-dark"];
export const ALL = LOOKS.map((look) => look.name);

/**
 * No wider than the window in any look, accessible in those that are named.
 * @param {import("playwright-core").Page} page
 * @param {string} what names the view in the message
 * @param {string[]} [looks]
 */
export async function assertSound(page, what, looks = TWO) {
  for (const look of LOOKS) {
    await dress(page, look);
    await assertFits(page, `${what}, ${look.name}`);
    if (!looks.includes(look.name)) continue;
    await showAll(page, look);
    await assertAccessible(page, `${what}, ${look.name}`);
  }
  await dress(page, LOOKS[0]);
}

/** A window as high as the page: what sticks to an edge covers what is about to be scrolled, which is no fault. */
async function showAll(page, { width }) {
  const { height, inner } = await page.evaluate(() => ({ height: document.documentElement.scrollHeight, inner: innerHeight }));
  if (height > inner) await page.setViewportSize({ width, height });
}
