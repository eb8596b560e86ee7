// The coach's report, opened in a browser from its folder: drawn in both themes, complete on a phone and on paper,
// without any request.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { visit } from "./harness/browser.js";
import { holdsShort } from "./harness/demo.js";
import { run } from "./harness/program.js";
import { Server } from "./harness/server.js";
import { assertFits, dress, LOOKS } from "./harness/shots.js";

/** Exit code of a command that leaves a run waiting. */
const LEFT_WAITING = 4;

/** The answer to the form of the demo's typed question. */
const FELT = { felt: "as planned", as_planned: true };

/** Returns the pages of `holdshort demo coach`. Its questions are answered through the API. */
async function pages(t) {
  const server = new Server(t);
  const started = await run(server.folder, ["demo", "coach", "--json", "--data", server.data]);
  assert.equal(started.code, LEFT_WAITING, started.stderr);
  const { run: id } = JSON.parse(started.stdout.slice(0, started.stdout.indexOf("\n")));
  await server.start();
  let answered = 0;
  for (let asked = await holdsShort(server, id); asked; asked = await holdsShort(server, id)) {
    const answer = asked.response_schema ? { edit: FELT } : { text: "A week abroad." };
    await server.api("POST", `/v1/interrupts/${asked.id}/decisions`, { option: "answer", ...answer });
    answered += 1;
  }
  assert.equal(answered, 4, "questions of the demo");
  const folder = join(server.folder, "report");
  const written = await run(server.folder, ["attach", id, "--output-dir", folder, "--data", server.data]);
  assert.equal(written.code, 0, written.stderr);
  const [analysis, planning] = ["analysis.html", "planning.html"].map((name) => pathToFileURL(join(folder, name)).href);
  return { server, analysis, planning };
}

/** Returns the number of charts on the page, after checking that each is visible. */
async function drawings(page, what) {
  const sizes = await page.locator("svg.drawing").evaluateAll((all) =>
    all.map((each) => {
      const { width, height } = each.getBoundingClientRect();
      return each.checkVisibility() && width > 100 && height > 50;
    }),
  );
  assert(sizes.every(Boolean), `${what}: a chart is not seen`);
  return sizes.length;
}

const colours = (page) => page.evaluate(() => {
  const { backgroundColor, color } = getComputedStyle(document.body);
  return [backgroundColor, color];
});

test("the report of the coach is read in a browser and on paper", async (t) => {
  const { server, analysis, planning } = await pages(t);
  const page = await visit(t, server, { elsewhere: "file://" });
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  const errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));

  for (const [url, charts, said] of [[analysis, 5, "A week abroad."], [planning, 1, "Marathon"]]) {
    await page.goto(url);
    assert.deepEqual(requests.splice(0), [url], "it gets nothing else");
    await page.getByRole("heading", { level: 1 }).waitFor();
    assert((await page.locator("body").innerText()).toLowerCase().includes(said.toLowerCase()), `${url}: ${said}`);
    const seen = {};
    for (const look of LOOKS) {
      await dress(page, look);
      await assertFits(page, `${url}, ${look.name}`);
      assert.equal(await drawings(page, look.name), charts);
      seen[look.theme] = await colours(page);
    }
    const [light, dark] = [seen.light, seen.dark];
    assert(light.every((colour, n) => colour !== dark[n]), `${light} ${dark}`);

    // Paper is white, whatever the theme of the screen. A4 has 180 mm between the margins.
    await page.setViewportSize({ width: 680, height: 1000 });
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    assert.deepEqual(await colours(page), ["rgb(255, 255, 255)", light[1]]);
    assert.equal(await drawings(page, "on paper"), charts);
    assert((await page.pdf({ format: "A4" })).length > 10_000);
    await page.emulateMedia({ media: null, colorScheme: null });
  }
  assert.deepEqual(errors, []);
});
