// The newest part of a long list. It extends backwards on request. At its end it grows without moving the content that
// the person is reading.

const STEP = 200;
/**
 * Maximum number of drawn entries. If there are more, the oldest entries are removed unless the person reads further
 * up.
 */
const MOST = 600;

/**
 * `opening`: the history is still loading; `at_end`: the person reads at the end; `further_up`: the person reads older
 * entries.
 */
export type Reading = "opening" | "at_end" | "further_up";

export class Window {
  /** Number of entries at the start that are not drawn. */
  hidden = $state(0);

  /** Adjusts the window. Must be called after each change of the length. */
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
