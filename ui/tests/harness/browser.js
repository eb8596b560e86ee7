// A person in a browser: one Chromium per test file, a profile of its own per visitor.
//
// A page that complains (an error that nobody caught, a refusal of the content security policy, a request to another
// host) fails the test it was opened for.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after } from "node:test";
import { chromium } from "playwright-core";

/** Chromium's engine without its windows: the same pages at two thirds of the processor time. */
const SHELL = "/usr/bin/chromium-headless-shell";
/** With notifications and a clipboard, which belong to the windows. */
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

/** Set by `cargo xtask verify --long`. */
export const LATE = process.env.HOLDSHORT_LATE_PARTS === "1";

/** For one step of a person, on a machine that does much else. */
const PATIENCE_MS = LATE ? 60_000 : 20_000;

/** Of the network or the browser, not of the page: a server that is killed, a request that is refused, no push in a profile
 * that is not kept. */
const EXPECTED = /^Failed to load resource|^WebSocket connection to .* failed|^Chrome currently does not support the Push API/;

/** The browsers of this file, by their program.
 * @type {Map<string, Promise<import("playwright-core").Browser>>} */
const launched = new Map();
after(() => Promise.all([...launched.values()].map(async (browser) => (await browser).close())));

/** A test without a browser fails: skipped, it would pass for a test. */
export function launch(executablePath) {
  const how = "`cargo xtask verify` installs it, as does `apt-get install chromium chromium-headless-shell`";
  assert(existsSync(executablePath), `there is no Chromium at ${executablePath}: ${how}`);
  return chromium.launch({ executablePath, args: ARGS });
}

/**
 * A page of a new visitor, who is nobody yet. Closed when the test ends.
 * @param {import("node:test").TestContext} t
 * @param {import("./server.js").Server} server
 * @param {import("playwright-core").BrowserContextOptions & {elsewhere?: string, whole?: boolean}} [options] `elsewhere`:
 *   another origin that the test goes to, what its pages do is its own; `whole`: a browser with windows
 */
export async function visit(t, server, { elsewhere, whole = false, ...options } = {}) {
  const program = whole ? CHROMIUM : SHELL;
  if (!launched.has(program)) launched.set(program, launch(program));
  const browser = await launched.get(program);
  const viewport = { width: 1280, height: 800 };
  const context = await browser.newContext({ baseURL: server.base, viewport, reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(PATIENCE_MS);
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

/** Each part of the app comes late, as on a machine that does much else: finds tests that look before it is there. */
const bringPartsLate = (context) =>
  context.route(/\/assets\/.*\.js/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    await route.continue();
  });

/**
 * Through the one-time link, to the inbox.
 * @param {import("playwright-core").Page} page
 * @param {import("./server.js").Server} server
 */
export async function signIn(page, server) {
  await page.goto(await server.loginLink());
  await page.getByRole("navigation", { name: "Places" }).waitFor();
}

/**
 * A page of somebody who is signed in.
 * @param {import("node:test").TestContext} t
 * @param {import("./server.js").Server} server
 * @param {import("playwright-core").BrowserContextOptions} [options]
 */
export async function person(t, server, options) {
  const page = await visit(t, server, options);
  await signIn(page, server);
  return page;
}
