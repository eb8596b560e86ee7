// Components that are not part of the first load. Each is a separate chunk, loaded when it is needed.

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
  card: () => import("./card/ReadCard.svelte"),
  assigned: () => import("./card/assigned/Assigned.svelte"),
  asked: () => import("./card/assigned/Asked.svelte"),
  settled: () => import("./card/decide/Outcome.svelte"),
  also: () => import("./card/decide/Also.svelte"),
  confirm: () => import("./card/decide/Confirm.svelte"),
  expired: () => import("./Expired.svelte"),
  grants: () => import("./Grants.svelte"),
  keys: () => import("./Keys.svelte"),
};
