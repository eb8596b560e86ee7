// Pictures of a view, for people to look at: wide and narrow, light and dark, in `ui/tests/shots`.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

const FOLDER = join(import.meta.dirname, "../shots");
const HEIGHTS = { 1280: 800, 390: 844 };

/** Every width and theme of the pictures. */
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
}

/**
 * Saves NAME-WIDTH-THEME.png for each look; nothing may stick out to the side.
 * @param {import("playwright-core").Page} page
 * @param {string} name
 */
export async function shoot(page, name) {
  mkdirSync(FOLDER, { recursive: true });
  for (const look of LOOKS) {
    await dress(page, look);
    const beyond = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(beyond, 0, `${name} is ${beyond} pixels too wide at ${look.width}`);
    await page.screenshot({ path: join(FOLDER, `${name}-${look.name}.png`), fullPage: true });
  }
}
