// The time, as often as people look: ages and deadlines are drawn from it.

export const clock = $state({ now: Date.now() });

setInterval(() => {
  clock.now = Date.now();
}, 1_000);
