// Sign-in at a certified provider in a browser, and sign-out everywhere.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { visit } from "./harness/browser.js";
import { Server } from "./harness/server.js";
import { t as text } from "./harness/texts.js";

const folder = fileURLToPath(new URL("../../crates/testkit/oidc/", import.meta.url));

/** Starts a provider with these people. It ends with the test. */
async function provide(t, people) {
  assert(existsSync(join(folder, "node_modules/oidc-provider")), `run \`npm ci\` in ${folder}`);
  const child = spawn("node", [join(folder, "provider.js"), JSON.stringify(people)], { stdio: ["pipe", "pipe", "ignore"] });
  t.after(() => child.kill());
  const [line] = await once(createInterface(child.stdout), "line");
  return JSON.parse(line).issuer;
}

test("somebody signs in with the provider, comes to where they were going, and signs out everywhere", async (t) => {
  const issuer = await provide(t, { ada: { name: "Ada Berg", roles: ["deciders"] } });
  const server = new Server(t);
  writeFileSync(join(server.data, "secret"), "a secret of this test\n", { mode: 0o600 });
  const config = `
    [identity.oidc]
    issuer = "${issuer}"
    name = "Example"
    client_id = "holdshort"
    client_secret_file = "secret"
    roles = { deciders = "operator" }
  `;
  writeFileSync(join(server.data, "holdshort.toml"), config);
  chmodSync(join(server.data, "holdshort.toml"), 0o600);
  await server.start();
  const places = (page) => page.getByRole("navigation", { name: text("app.navigation") });
  const enter = (page) => page.getByRole("link", { name: text("login.provider", { name: "Example" }) });

  const page = await visit(t, server, { elsewhere: issuer });
  // The provider's page requests a font from the internet.
  await page.context().route(/fonts\.googleapis\.com/, (route) => route.abort());
  await page.goto("/runs");
  await enter(page).click();
  await page.locator("input[name=login]").fill("ada");
  await page.locator("input[name=password]").fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
  await places(page).waitFor();
  assert.equal(page.url(), `${server.base}/runs`, "the code has left the address bar");
  await page.getByText("ada", { exact: true }).waitFor();

  // A second browser of the same person, with an open socket.
  const other = await visit(t, server);
  await other.goto(await server.loginLink("ada"));
  await places(other).waitFor();
  await page.goto("/people");
  await page.getByRole("button", { name: text("people.leave") }).click();
  await enter(page).waitFor();
  await enter(other).waitFor();
  await page.reload();
  await enter(page).waitFor();
});
