// The newest part of a long list. Goes back on request, and grows at its end without losing what is being read.

const STEP = 200;
/** Beyond this the oldest ones leave the page, while nobody looks at them. */
const MOST = 600;

/** `opening`: the past is still being read in; `at_end`: nobody reads further up. */
export type Reading = "opening" | "at_end" | "further_up";

export class Window {
  /** How many are not drawn, from the start. */
  hidden = $state(0);

  /** To be called with each new length. */
  fit(length: number, reading: Reading): void {
    const most = { opening: STEP, at_end: MOST, further_up: Infinity }[reading];
    if (length - this.hidden > most || this.hidden > length) this.newest(length);
  }

  newest(length: number): void {
    this.hidden = Math.max(0, length - STEP);
  }

  earlier(): void {
    this.hidden = Math.max(0, this.hidden - STEP);
  }
}
