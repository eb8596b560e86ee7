// Fetches the editor: when it is needed, or before, so that it also opens while the server is away.

export const loadEditor = () => import("./Editor.svelte");

export const loadEditBar = () => import("../decide/EditBar.svelte");

/** What was asked beside what it became. */
export const loadEdited = () => import("../decide/Edited.svelte");

/** Which changes of a command that was tried are kept. */
export const loadKeep = () => import("../subject/trial/Keep.svelte");

export function fetchEditor(): void {
  const fetch = () => void Promise.all([loadEditor(), loadEditBar(), loadEdited()]).catch(() => undefined);
  if ("requestIdleCallback" in window) requestIdleCallback(fetch, { timeout: 3_000 });
  else setTimeout(fetch, 1_000);
}
