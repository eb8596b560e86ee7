// When a key is a command and when it is text.
import { letters } from "../state/letters.svelte";

/** What is typed on for a moment after the page took a field away is still text. */
const HUSH_MS = 1_000;
let quietUntil = 0;

/** A field that somebody typed in is gone. */
export function hush(): void {
  quietUntil = performance.now() + HUSH_MS;
}

/** Whether the key belongs to a field, a dialog or the browser; a letter also where letters are switched off. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return true;
  if (performance.now() < quietUntil) return true;
  if (!letters.on && event.key.length === 1) return true;
  const target = event.target as HTMLElement | null;
  if (target?.closest("input, textarea, select, [contenteditable]")) return true;
  // A dialog that was closed keeps the focus until it is gone: the next key is a command again.
  return document.querySelector("dialog[open]") !== null;
}
