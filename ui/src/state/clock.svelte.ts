// The current time, updated every second. Ages and deadlines depend on it.

export const clock = $state({ now: Date.now() });

setInterval(() => {
  clock.now = Date.now();
}, 1_000);
