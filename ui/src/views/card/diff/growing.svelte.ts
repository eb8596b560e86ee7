// Draws the rows of a long table frame by frame, so that a change of 2000 lines does not block the page.

const FIRST = 150;
const EACH_FRAME = 700;

export class Growing {
  shown = $state(FIRST);

  /** Adds rows until all rows are drawn. Create it while a component is created. */
  constructor(total: () => number) {
    $effect(() => {
      if (this.shown >= total()) return;
      const frame = requestAnimationFrame(() => (this.shown += EACH_FRAME));
      return () => cancelAnimationFrame(frame);
    });
  }
}
