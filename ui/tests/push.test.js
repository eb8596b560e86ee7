// Push notifications in a browser: the switch, the shown message, and the target of a click. Chromium reaches no push
// service here, so its debugging protocol delivers the messages. `crates/testkit/tests/it/push.rs` tests the sent
// messages.
import assert from "node:assert/strict";
import test from "node:test";
import { signIn, visit } from "./harness/browser.js";
import { card } from "./harness/card.js";
import { eventually } from "./harness/eventually.js";
import { serve } from "./harness/server.js";
import { t as text } from "./harness/texts.js";
import { assertSound } from "./harness/views.js";

const CHANNELS = 'channels: {browsers: {type: push, contact: "mailto:ops@example.org"}}\n';

const box = (page) => page.getByRole("switch", { name: text("told.here") });

async function visitPeople(page, server) {
  await signIn(page, server);
  await page.goto("/people");
  await page.getByRole("heading", { name: text("people.you") }).waitFor();
}

test("without a channel there is no switch", async (t) => {
  const server = await serve(t);
  const page = await visit(t, server);
  await visitPeople(page, server);
  await page.waitForLoadState("networkidle");
  assert.equal(await box(page).count(), 0);
});

test("a browser that may show nothing says so, and tells nobody", async (t) => {
  const server = await serve(t, { channels: CHANNELS });
  const page = await visit(t, server);
  await visitPeople(page, server);
  await box(page).click();
  await page.getByText(text("told.refused")).waitFor();
  assert.equal(await box(page).isChecked(), false);
  await assertSound(page, "a browser that may show nothing");
  assert.deepEqual((await server.api("GET", "/v1/me/push")).items, []);
});

test("what is pushed is shown once for each thing, and a click opens its card and decides nothing", async (t) => {
  const server = await serve(t, { channels: CHANNELS });
  const page = await visit(t, server, { permissions: ["notifications"], whole: true });
  const protocol = await page.context().newCDPSession(page);
  const registered = new Promise((resolve) => {
    protocol.on("ServiceWorker.workerRegistrationUpdated", ({ registrations: [first] }) => first && resolve(first.registrationId));
  });
  await visitPeople(page, server);
  await protocol.send("ServiceWorker.enable");
  // The worker is registered from here on, even if the push service cannot be reached.
  await box(page).click();
  const registrationId = await registered;
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));

  const asked = await server.agentAsks({ kind: "tool_approval", title: "Archive 41 stale branches" });
  const push = (data) => protocol.send("ServiceWorker.deliverPushMessage", { origin: server.base, registrationId, data });
  const shown = () =>
    page.evaluate(async () => {
      const all = await (await navigator.serviceWorker.ready).getNotifications();
      return all.map(({ title, body, tag }) => ({ title, body, tag }));
    });
  // The server may have a different name than the one the page was opened with.
  const of = (title) => JSON.stringify({ title, body: "Risk: low", url: `https://hold.example.org/inbox/${asked.id}`, tag: asked.id });
  await push(of("Waiting"));
  await push(of("Still waiting"));
  await eventually("the later one takes the place of the first", async () => {
    const all = await shown();
    return all.length === 1 && all[0].title === "Still waiting" && all;
  });
  // The message has no tag, so a repeat is a further notification. Under load, Chromium sometimes loses a message from
  // the protocol.
  let nextAt = 0;
  await eventually("a message that cannot be read is shown all the same", async () => {
    if (Date.now() >= nextAt) {
      nextAt = Date.now() + 5_000;
      await push("nonsense");
    }
    return (await shown()).length >= 2;
  });

  const [worker] = page.context().serviceWorkers();
  await worker.evaluate(async (tag) => {
    const [notification] = await self.registration.getNotifications({ tag });
    self.dispatchEvent(new NotificationEvent("notificationclick", { notification }));
  }, asked.id);
  await page.waitForURL(`${server.base}/inbox/${asked.id}`);
  await card(page).getByText("Archive 41 stale branches").first().waitFor();
  assert.equal((await server.api("GET", `/v1/interrupts/${asked.id}`)).status, "open");
});
