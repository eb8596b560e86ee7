// The app's files are fetched once. Their address contains the name of the build, so they never change.
import assert from "node:assert/strict";
import test from "node:test";
import { LATE, person } from "./harness/browser.js";
import { eventually } from "./harness/eventually.js";
import { serve } from "./harness/server.js";

// A browser with delayed requests has no cache, so the test is skipped there.
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
  const all = async () => {
    let before = -1;
    return eventually("all files", async () => {
      const found = await files();
      const isAll = found.length >= 4 && found.length === before;
      before = found.length;
      return isAll && found;
    });
  };
  const known = (await all()).map(({ name }) => name);
  await page.goto("/runs");
  const again = (await all()).filter(({ name }) => known.includes(name));
  assert(again.length >= 4, `${again.length}`);
  assert.deepEqual(again.filter(({ transferSize }) => transferSize > 0), [], "from the cache, without a word to the server");
});
