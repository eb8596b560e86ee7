// The weight of the first view, the height of a page, and the keys that lead from one card to the next.
import assert from "node:assert/strict";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { LATE, person, signIn, visit } from "./harness/browser.js";
import { card, open, option, shown, visitCard, words } from "./harness/card.js";
import { eventually } from "./harness/eventually.js";
import { serve } from "./harness/server.js";
import { t as text } from "./harness/texts.js";
import { serveTour } from "./harness/tour.js";

/** Limits of the first view: gzip of scripts and styles in bytes, and number of requests. */
const WEIGHT = 60_000;
const REQUESTS = 12;

test("the first view is small", { skip: LATE }, async (t) => {
  const server = await serve(t);
  const page = await visit(t, server);
  await signIn(page, server);
  await page.goto("about:blank");
  const requests = [];
  const files = [];
  page.on("request", (request) => requests.push(new URL(request.url()).pathname));
  page.on("response", (response) => {
    if (/\.(js|css)$/.test(response.url())) files.push(response.body());
  });
  await page.goto("/");
  await page.getByText(text("inbox.empty")).waitFor();
  await eventually("the last request", async () => {
    const before = requests.length;
    await page.waitForTimeout(500);
    return requests.includes("/v1/info") && requests.length === before;
  });
  const weight = (await Promise.all(files)).reduce((sum, body) => sum + gzipSync(body).length, 0);
  t.diagnostic(`${weight} bytes in ${requests.length} requests`);
  assert(files.length > 0 && weight <= WEIGHT, `${weight} bytes`);
  assert(requests.length <= REQUESTS, `${requests.length} requests:\n${requests.join("\n")}`);
});

test("keys lead through the cards", async (t) => {
  const { server, open: all } = await serveTour(t);
  const page = await person(t, server, { advance: true });
  const find = (end) => all.find(({ title, kind }) => kind === end || title.endsWith(end));

  await t.test("a page of the height of the window does not scroll", async () => {
    await open(page, find("checkpoint"));
    assert.equal(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight), 0);
  });

  await t.test("a digit selects an answer of a question and does not send it", async () => {
    await open(page, find("question"));
    await card(page).getByRole("radio").first().waitFor();
    await page.keyboard.press("2");
    await eventually("the second answer", async () => (await words(page).inputValue()) === "south");
    assert.equal((await server.api("GET", `/v1/interrupts/${find("question").id}`)).status, "open");
  });

  await t.test("m opens the menu with the focus on its first option, and arrows move in it", async () => {
    const change = find("edit_file: runway.txt");
    await open(page, change);
    await option(page, "Approve").waitFor();
    await page.keyboard.press("m");
    const focused = page.locator("[data-bar] [data-option]:focus");
    await focused.waitFor();
    const first = await focused.getAttribute("data-option");
    await page.keyboard.press("ArrowDown");
    assert.notEqual(await focused.getAttribute("data-option"), first);
    await page.keyboard.press("Escape");
    await card(page).waitFor();
  });

  await t.test("a decision opens the next request, names the last one, and keeps the focus on the card", async () => {
    const writing = find("notes/new.md");
    await open(page, writing);
    await option(page, "Approve").waitFor();
    await page.keyboard.press("a");
    await page.locator(`article[data-interrupt="${writing.id}"]`).waitFor({ state: "detached" });
    await card(page).waitFor();
    await page.getByRole("status").getByRole("link", { name: /approved: .*notes\/new\.md/ }).waitFor();
    assert.equal((await server.api("GET", `/v1/interrupts/${writing.id}`)).resolution.outcome, "approved");
    assert.notEqual(await page.evaluate(() => document.activeElement?.tagName), "BODY");
  });

  await t.test("switched off, the outcome stays", async () => {
    await page.getByRole("button", { name: text("app.keys") }).click();
    await page.getByRole("checkbox", { name: text("keys.advance") }).uncheck();
    await page.keyboard.press("Escape");
    const command = find("python3 -m unittest");
    await open(page, command);
    await option(page, "Reject").click();
    await card(page).getByRole("heading", { level: 3, name: /rejected by operator/ }).waitFor();
    await shown(page, command);
  });
});

test("a second click or key does not decide on the request that opens after a decision", async (t) => {
  const server = await serve(t);
  for (const n of [1, 2]) await server.agentAsks({ kind: "tool_approval", title: `Refund ${n} EUR` });
  const { items } = await server.api("GET", "/v1/interrupts?status=open");
  const page = await person(t, server, { advance: true });
  await visitCard(page, items[0]);
  await option(page, "Approve").click();
  await page.locator(`article[data-interrupt="${items[1].id}"]`).waitFor();
  const { x, y, width, height } = await option(page, "Approve").boundingBox();
  await page.mouse.click(x + width / 2, y + height / 2);
  await page.keyboard.press("a");
  await page.waitForTimeout(1_000);
  assert.equal((await server.api("GET", `/v1/interrupts/${items[1].id}`)).status, "open");
  await option(page, "Approve").click();
  await card(page).getByRole("heading", { level: 3, name: /approved by operator/ }).waitFor();
});
