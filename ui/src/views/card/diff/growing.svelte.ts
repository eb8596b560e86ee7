// Rows of a long table, some at once and the rest frame by frame: a change of 2000 lines does not hold up the page.

const FIRST = 150;
const EACH_FRAME = 700;

export class Growing {
  shown = $state(FIRST);

  /** To be called in a component: grows until all are there. */
  constructor(total: () => number) {
    $effect(() => {
      if (this.shown >= total()) return;
      const frame = requestAnimationFrame(() => (this.shown += EACH_FRAME));
      return () => cancelAnimationFrame(frame);
    });
  }
}
