// Screenshots of views for people to look at: wide and narrow, light and dark, in `ui/tests/shots`.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

const FOLDER = join(import.meta.dirname, "../shots");
const HEIGHTS = { 1280: 800, 390: 844 };

/** Every width and theme of the screenshots. */
export const LOOKS = [1280, 390].flatMap((width) =>
  /** @type {const} */ (["light", "dark"]).map((theme) => ({ width, theme, name: `${width}-${theme}` })),
);

/**
 * @param {import("playwright-core").Page} page
 * @param {{width: number, theme: "light" | "dark"}} look
 */
export async function dress(page, { width, theme }) {
  await page.setViewportSize({ width, height: HEIGHTS[width] });
  await page.emulateMedia({ colorScheme: theme });
  // The page learns its new width at the next frame, and draws again. Measurements before that would be wrong.
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
}

/**
 * Asserts that no page scrolls sideways.
 * @param {import("playwright-core").Page} page
 * @param {string} what names the view in the message
 */
export async function assertFits(page, what) {
  const { beyond, culprits } = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.scrollingElement;
    const isBeyond = (element) => element.getBoundingClientRect().right > clientWidth + 0.5;
    const culprits = scrollWidth > clientWidth ? [...document.body.querySelectorAll("*")].filter(isBeyond) : [];
    return { beyond: scrollWidth - clientWidth, culprits: culprits.slice(0, 5).map((each) => each.outerHTML.slice(0, 100)) };
  });
  assert.equal(beyond, 0, `${what} is ${beyond} pixels too wide: ${culprits.join("\n")}`);
}

/**
 * Saves NAME-WIDTH-THEME.png for each look, and asserts that the page fits.
 * @param {import("playwright-core").Page} page
 * @param {string} name
 * @param {{fullPage?: boolean}} [how] includes the part below the window; sticky elements are then in the middle
 */
export async function shoot(page, name, { fullPage = false } = {}) {
  mkdirSync(FOLDER, { recursive: true });
  for (const look of LOOKS) {
    await dress(page, look);
    await assertFits(page, `${name} at ${look.width}`);
    await page.screenshot({ path: join(FOLDER, `${name}-${look.name}.png`), fullPage });
  }
  await dress(page, LOOKS[0]);
}
