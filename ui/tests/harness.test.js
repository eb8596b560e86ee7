// The test harness itself rejects a missing browser and an unknown text.
import assert from "node:assert/strict";
import test from "node:test";
import { launch } from "./harness/browser.js";
import { t as text } from "./harness/texts.js";

test("without a browser the tests fail and say how to get one", () => {
  assert.throws(() => launch("/nowhere/chromium"), /no Chromium at \/nowhere\/chromium.*apt-get install chromium/);
});

test("a text that the app does not have is an error, not an empty match", () => {
  assert.throws(() => text("inbox.nothing_like_it"), /no text is called inbox.nothing_like_it/);
});
