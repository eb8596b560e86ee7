// The sign-in of the web UI of MARS in a browser: the UI's own server forwards requests below `/api` to the edge.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request } from "node:http";
import test from "node:test";
import { visit } from "./harness/browser.js";
import { serve } from "./harness/server.js";

const SIGN_IN = "/api/holdshort/sign-in";

/** Starts the UI's own server. Its page asks for the sessions, as the UI does. Ends with the test. */
async function forward(t, target) {
  const page = createServer((incoming, response) => {
    if (!incoming.url.startsWith("/api/")) {
      response.writeHead(200, { "content-type": "text/html" });
      response.end('<p></p><script>fetch("/api/sessions").then((it) => (document.querySelector("p").textContent = it.status))</script>');
      return;
    }
    const url = new URL(`/edges/mars${incoming.url}`, target().base);
    const { host: _, ...headers } = incoming.headers;
    const outgoing = request(url, { method: incoming.method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(outgoing);
  });
  page.listen(0, "localhost");
  await once(page, "listening");
  t.after(() => page.close());
  return `http://localhost:${page.address().port}`;
}

test("a person signs in with a login link, and the page may use the edge", async (t) => {
  let server;
  const origin = await forward(t, () => server);
  server = await serve(t, { edgeOrigin: origin });
  const page = await visit(t, server, { elsewhere: origin });
  await page.goto(origin);
  await page.getByText("401", { exact: true }).waitFor();

  await page.goto(`${origin}${SIGN_IN}`);
  await page.getByLabel("Link or code").fill(await server.loginLink());
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("200", { exact: true }).waitFor();
  assert.equal(page.url(), `${origin}/`);

  // The link works once, and a refusal is shown above the form.
  const link = await server.loginLink();
  for (const [used, told] of [[false, "200"], [true, /used|expired|not valid|unknown/i]]) {
    await page.goto(`${origin}${SIGN_IN}`);
    await page.getByLabel("Link or code").fill(link);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText(told).first().waitFor();
    if (used) await page.getByLabel("Link or code").waitFor();
  }
});
