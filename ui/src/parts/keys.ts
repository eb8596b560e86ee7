// When a key is a command and when it is text.

/** Whether the key belongs to a field, a dialog or the browser. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return true;
  const target = event.target as HTMLElement | null;
  if (target?.closest("input, textarea, select, [contenteditable], dialog")) return true;
  return document.querySelector("dialog[open]") !== null;
}
