// Fetches the editor: when it is needed, or before, so that it also opens while the server is away.

export const loadEditor = () => import("./Editor.svelte");

export function fetchEditor(): void {
  const fetch = () => void loadEditor().catch(() => undefined);
  if ("requestIdleCallback" in window) requestIdleCallback(fetch, { timeout: 3_000 });
  else setTimeout(fetch, 1_000);
}
