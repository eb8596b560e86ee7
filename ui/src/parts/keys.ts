// Decides whether a key press is a command or text.
import { letters } from "../state/letters.svelte";

/** Time after the removal of a field in which key presses are still treated as text. */
const HUSH_MS = 1_000;
let quietUntil = 0;

/** Records that a field was removed while a person was typing in it. Must be called at the removal. */
export function hush(): void {
  quietUntil = performance.now() + HUSH_MS;
}

/**
 * Returns true if the key belongs to a field, a dialog or the browser, or if it is a letter while single-letter keys
 * are switched off.
 */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return true;
  if (performance.now() < quietUntil) return true;
  if (!letters.on && event.key.length === 1) return true;
  const target = event.target as HTMLElement | null;
  if (target?.closest("input, textarea, select, [contenteditable]")) return true;
  // A closed dialog keeps the focus until it is removed. The next key press is a command again.
  return document.querySelector("dialog[open]") !== null;
}
