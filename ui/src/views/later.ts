// Components that are not part of the first load. Each is a separate chunk, loaded when the browser is idle.

let held: Promise<typeof import("./system/Held.svelte")>;

export const later = {
  login: () => import("./Login.svelte"),
  runs: () => import("./Runs.svelte"),
  run: () => import("./run/RunPage.svelte"),
  new_run: () => import("./NewRun.svelte"),
  sessions: () => import("./session/Place.svelte"),
  people: () => import("./people/People.svelte"),
  system: () => import("./system/System.svelte"),
  halt: () => import("./system/Halt.svelte"),
  // Requested only once. If the component has already loaded, it is drawn together with its card.
  held: () => (held ??= import("./system/Held.svelte")),
  which: () => import("./people/Which.svelte"),
  assigned: () => import("./card/assigned/Assigned.svelte"),
  asked: () => import("./card/assigned/Asked.svelte"),
  settled: () => import("./card/decide/Outcome.svelte"),
  also: () => import("./card/decide/Also.svelte"),
  confirm: () => import("./card/decide/Confirm.svelte"),
  expired: () => import("./Expired.svelte"),
  grants: () => import("./Grants.svelte"),
  keys: () => import("./Keys.svelte"),
};

/** Loads all components early, so that a view opens at once, even while the server is unreachable. */
export function fetchAll(): void {
  const fetch = () => Object.values(later).forEach((load) => load().catch(() => undefined));
  if ("requestIdleCallback" in window) requestIdleCallback(fetch, { timeout: 3_000 });
  else setTimeout(fetch, 1_000);
}
