// People pause, resume and cancel a run, also while its whole session is suspended.
import assert from "node:assert/strict";
import test from "node:test";
import { person } from "./harness/browser.js";
import { holdsShort } from "./harness/demo.js";
import { serveSteered } from "./harness/steered.js";
import { t as text } from "./harness/texts.js";
import { assertSound } from "./harness/views.js";

test("a run is paused, resumed with its session, and cancelled", async (t) => {
  const { server, id } = await serveSteered(t);
  const { session } = await holdsShort(server, id);
  const page = await person(t, server);
  await page.goto(`/runs/${id}`);
  const button = (key) => page.getByRole("button", { name: text(key), exact: true });
  const status = async () => (await server.api("GET", `/v1/runs/${id}`)).status;

  await t.test("paused and resumed", async () => {
    await button("run.pause").click();
    await button("run.resume").waitFor();
    assert.equal(await status(), "paused");
    await button("run.resume").click();
    await button("run.pause").waitFor();
    assert.equal(await status(), "waiting");
  });

  await t.test("where the session is suspended, it goes on with its session", async () => {
    await server.api("POST", `/v1/sessions/${session}/suspend`, {});
    // The page updates itself.
    await button("run.resume").click();
    await page.getByRole("alert").getByText("session_suspended").waitFor();
    const said = await page.getByRole("alert").innerText();
    assert.equal(said.match(/the session is suspended/gi).length, 1, said);
    assert.equal(await status(), "paused");
    await assertSound(page, "a run whose session is suspended");
    await button("run.session.resume").click();
    await button("run.pause").waitFor();
    await page.getByRole("alert").waitFor({ state: "detached" });
    assert.equal((await server.api("GET", `/v1/sessions/${session}`)).state, "open");
    assert.equal(await status(), "waiting");
  });

  await t.test("cancelled, once more asked and with a reason", async () => {
    await button("run.cancel").click();
    await button("run.cancel.not").click();
    assert.equal(await status(), "waiting");
    await button("run.cancel").click();
    await page.getByLabel(text("run.cancel.reason")).fill("Enough for today.");
    await button("run.cancel.sure").click();
    await page.getByText("Enough for today.").first().waitFor();
    assert.equal(await status(), "cancelled");
    assert.equal(await button("run.pause").count(), 0);
  });
});
