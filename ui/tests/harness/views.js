// Looking at a view as everybody may see it: wide and narrow, light and dark.
import { assertAccessible } from "./axe.js";
import { assertFits, dress, LOOKS } from "./shots.js";

/** Colours do not depend on the width: three of the four show all there is. */
const AXE = ["1280-light", "1280-dark", "390-dark"];

/**
 * Accessible and no wider than the window, in each of the looks.
 * @param {import("playwright-core").Page} page
 * @param {string} what names the view in the message
 */
export async function assertSound(page, what) {
  for (const look of LOOKS) {
    await dress(page, look);
    await assertFits(page, `${what}, ${look.name}`);
    if (AXE.includes(look.name)) await assertAccessible(page, `${what}, ${look.name}`);
  }
  await dress(page, LOOKS[0]);
}
