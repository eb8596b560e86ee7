// Loads the editor on demand, or early, so that it also opens while the server is unreachable.

export const loadEditor = () => import("./Editor.svelte");

export const loadEditBar = () => import("../decide/EditBar.svelte");

/** Loads the comparison of the request with its edit. */
export const loadEdited = () => import("../decide/Edited.svelte");

/** Loads the selection of the changes of a trial that are kept. */
export const loadKeep = () => import("../subject/trial/Keep.svelte");

export function fetchEditor(): void {
  const fetch = () => void Promise.all([loadEditor(), loadEditBar(), loadEdited()]).catch(() => undefined);
  if ("requestIdleCallback" in window) requestIdleCallback(fetch, { timeout: 3_000 });
  else setTimeout(fetch, 1_000);
}
