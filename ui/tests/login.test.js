// The sign-in page: login links, secrets, and the requests that it rejects.
import assert from "node:assert/strict";
import test from "node:test";
import { person, signIn, visit } from "./harness/browser.js";
import { serve } from "./harness/server.js";
import { t as text } from "./harness/texts.js";

const places = (page) => page.getByRole("navigation", { name: text("app.navigation") });
const door = (page) => page.getByText(text("login.how"));

test("without a link the door says how to get one, at every address", async (t) => {
  const server = await serve(t);
  assert.deepEqual(await server.api("GET", "/healthz"), { status: "ok" });
  const page = await visit(t, server);
  for (const address of ["/", "/login", "/inbox/int_1", "/runs", "/grants"]) {
    await page.goto(address);
    await door(page).waitFor();
    assert.equal(await places(page).count(), 0, address);
  }
});

test("the link that the server prints signs one browser in, once", async (t) => {
  const server = await serve(t);
  const page = await visit(t, server);
  const asks = [];
  page.on("request", (request) => request.url().endsWith("/v1/login/provider") && asks.push(request.url()));
  await page.goto(server.login);
  await places(page).waitFor();
  assert.equal(page.url(), `${server.base}/`, "the code has left the address bar");
  await page.reload();
  await places(page).waitFor();
  assert.deepEqual(asks, [], "who comes with a link is not asked for another way in");

  const other = await visit(t, server);
  await other.goto(server.login);
  await other.getByRole("alert").getByRole("link", { name: text("problem.what") }).waitFor();
  await door(other).waitFor();
  await other.getByText("holdshort login", { exact: true }).waitFor();
  assert.equal(other.url(), `${server.base}/login`);
});

test("neither the cookie nor the secret is enough", async (t) => {
  const server = await serve(t);
  const forgetting = [
    (page) => page.context().clearCookies(),
    (page) => page.evaluate(() => localStorage.clear()),
  ];
  for (const forget of forgetting) {
    const page = await person(t, server);
    await forget(page);
    await page.reload();
    await door(page).waitFor();
  }
});

test("who signs out is out, in every tab", async (t) => {
  const server = await serve(t);
  const page = await person(t, server);
  const tab = await page.context().newPage();
  await tab.goto("/");
  await places(tab).waitFor();
  await page.getByRole("button", { name: text("app.leave"), exact: true }).click();
  await door(page).waitFor();
  await tab.reload();
  await door(tab).waitFor();
  await signIn(tab, server);
});

test("a page of another port has the cookie, and can do nothing with it", async (t) => {
  const server = await serve(t);
  const page = await person(t, server);
  const secret = await page.evaluate(() => Object.entries(localStorage).find(([key]) => /secret/.test(key))?.[1]);
  assert(secret, "the other half of the login is in the storage of this origin");
  // The most that a foreign page can make this browser send: its cookies go to every port.
  const send = (headers) => page.request.get("/v1/interrupts", { headers });
  assert.equal((await send({ "X-Holdshort-Secret": secret })).status(), 200);
  assert.equal((await send({})).status(), 401);
  assert.equal((await send({ "X-Holdshort-Secret": "guessed" })).status(), 401);
  const link = await page.request.post("/v1/login-links", {
    headers: { Origin: "http://127.0.0.1:1", "X-Holdshort-Secret": secret },
  });
  assert.equal(link.status(), 403, "nor with the secret, from elsewhere");
});
