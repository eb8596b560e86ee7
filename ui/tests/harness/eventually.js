// Waits for a condition that no page shows.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

const PATIENCE_MS = 30_000;

/**
 * Repeats a check until it returns a value.
 * @template T
 * @param {string} what
 * @param {() => Promise<T | undefined | false>} look
 * @returns {Promise<T>}
 */
export async function eventually(what, look) {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    assert(Date.now() < deadline, `waited in vain for ${what}`);
    await pause(25);
  }
}
