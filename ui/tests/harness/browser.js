// A person in a browser: one Chromium per test file, one profile per visitor.
//
// A page fails its test on an uncaught error, a violation of the content security policy, or a request to another host.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after } from "node:test";
import { chromium } from "playwright-core";

/** Chromium's engine without windows. It renders the same pages with two thirds of the processor time. */
const SHELL = "/usr/bin/chromium-headless-shell";
/** Full Chromium, for notifications and the clipboard, which need windows. */
const CHROMIUM = "/usr/bin/chromium";

const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** True if the app's files are delayed. `cargo xtask verify --long` sets it. */
export const LATE = process.env.HOLDSHORT_LATE_PARTS === "1";

/** Timeout of one step of a person, for a busy machine. */
const PATIENCE_MS = LATE ? 60_000 : 20_000;

/** Console errors of the network or the browser, not of the page: a killed server, a rejected request, no push in a
 * temporary profile. */
const EXPECTED = /^Failed to load resource|^WebSocket connection to .* failed|^Chrome currently does not support the Push API/;

/** The browsers of this file, by program.
 * @type {Map<string, Promise<import("playwright-core").Browser>>} */
const launched = new Map();
after(() => Promise.all([...launched.values()].map(async (browser) => (await browser).close())));

/** Starts a browser. Without one the test fails, because a skipped test would look like success. */
export function launch(executablePath) {
  const how = "`cargo xtask verify` installs it, as does `apt-get install chromium chromium-headless-shell`";
  assert(existsSync(executablePath), `there is no Chromium at ${executablePath}: ${how}`);
  return chromium.launch({ executablePath, args: ARGS });
}

/**
 * Opens a page for a new visitor, who is not signed in. It closes when the test ends.
 * @param {import("node:test").TestContext} t
 * @param {import("./server.js").Server} server
 * @param {import("playwright-core").BrowserContextOptions & {advance?: boolean, elsewhere?: string, whole?: boolean}} [options]
 *   `advance`: opens the next request after a decision, as the app does by default; otherwise the outcome stays;
 *   `elsewhere`: another origin that the test visits, whose pages are not checked; `whole`: a browser with windows
 */
export async function visit(t, server, { advance = false, elsewhere, whole = false, ...options } = {}) {
  const program = whole ? CHROMIUM : SHELL;
  if (!launched.has(program)) launched.set(program, launch(program));
  const browser = await launched.get(program);
  const viewport = { width: 1280, height: 800 };
  const context = await browser.newContext({ baseURL: server.base, viewport, reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  if (!advance) await context.addInitScript(() => location.protocol.startsWith("http") && localStorage.setItem("holdshort.advance", "off"));
  /** @type {string[]} */
  const complaints = [];
  context.on("weberror", (error) => complaints.push(`uncaught: ${error.error().stack}`));
  context.on("console", (message) => {
    if (elsewhere && message.location().url && !message.location().url.startsWith(server.base)) return;
    if (message.type() === "error" && !EXPECTED.test(message.text())) complaints.push(message.text());
  });
  context.on("request", (request) => {
    const from = request.serviceWorker()?.url() ?? request.frame().url();
    if (elsewhere && (request.url().startsWith(elsewhere) || from.startsWith(elsewhere))) return;
    if (!request.url().startsWith(`${server.base}/`)) complaints.push(`a request elsewhere: ${request.url()}`);
  });
  t.after(async () => {
    await context.close();
    assert.deepEqual(complaints, [], "the page complained");
  });
  if (LATE) await bringPartsLate(context);
  return context.newPage();
}

/** Delays each file of the app, as on a busy machine. It finds tests that do not wait for a part to load. */
const bringPartsLate = (context) =>
  context.route(/\/assets\/.*\.js/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    await route.continue();
  });

/**
 * Signs in with a one-time link, and waits for the inbox.
 * @param {import("playwright-core").Page} page
 * @param {import("./server.js").Server} server
 */
export async function signIn(page, server) {
  await page.goto(await server.loginLink());
  await page.getByRole("navigation", { name: "Main navigation" }).waitFor();
}

/**
 * Opens a page for a person who is signed in.
 * @param {import("node:test").TestContext} t
 * @param {import("./server.js").Server} server
 * @param {import("playwright-core").BrowserContextOptions} [options]
 */
export async function person(t, server, options) {
  const page = await visit(t, server, options);
  await signIn(page, server);
  return page;
}
