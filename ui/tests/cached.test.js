// What the app is made of is fetched once: its files stand under the name of their build and never change there.
import assert from "node:assert/strict";
import test from "node:test";
import { LATE, person } from "./harness/browser.js";
import { eventually } from "./harness/eventually.js";
import { serve } from "./harness/server.js";

// A browser whose requests are held back has no cache.
test("a page that is loaded again asks for no file of the app", { skip: LATE }, async (t) => {
  const server = await serve(t);
  const page = await person(t, server);
  const files = () =>
    page.evaluate(() =>
      performance
        .getEntriesByType("resource")
        .filter(({ name }) => new URL(name).pathname.startsWith("/assets/"))
        .map(({ name, transferSize }) => ({ name, transferSize })),
    );
  // Also what is fetched when nothing else is to do.
  const all = async () => {
    let before = -1;
    return eventually("all files", async () => {
      const found = await files();
      const isAll = found.length > 20 && found.length === before;
      before = found.length;
      return isAll && found;
    });
  };
  const known = (await all()).map(({ name }) => name);
  await page.goto("/runs");
  const again = (await all()).filter(({ name }) => known.includes(name));
  assert(again.length > 5, `${again.length}`);
  assert.deepEqual(again.filter(({ transferSize }) => transferSize > 0), [], "from the cache, without a word to the server");
});
