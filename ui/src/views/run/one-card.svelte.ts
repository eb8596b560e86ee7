// The single open interrupt whose card is shown, so that a page has one set of keys and one bar. The card stays while
// other interrupts open and close, and briefly shows its outcome.
import { get } from "../../api/client";
import type { Interrupt } from "../../api/types";
import { drafts } from "../../state/drafts";

/**
 * Time for which an outcome stays visible, so that a second click or key press does not hit the next card before the
 * person sees it.
 */
const SETTLE_MS = { here: 700, elsewhere: 250 };

export class OneCard {
  shown = $state.raw<Interrupt>();
  #open: Interrupt[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Updates the list of open interrupts. Must be called with each new list. */
  take(open: Interrupt[]): void {
    this.#open = open;
    const current = open.find((each) => each.id === this.shown?.id);
    if (!this.shown) this.#show(open[0]);
    // A resolved interrupt stays resolved, even if an older response arrives later.
    else if (this.shown.status === "open" && current) this.#show(current);
    else if (this.shown.status === "open") void this.#settle(this.shown.id);
  }

  pick(interrupt: Interrupt): void {
    this.#show(interrupt);
  }

  /** Shows the interrupt after this person's decision on its card. */
  decided(interrupt: Interrupt): void {
    // Further votes are needed.
    if (interrupt.status === "open") this.#show(interrupt);
    else this.#end(interrupt, SETTLE_MS.here);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #show(interrupt: Interrupt | undefined): void {
    clearTimeout(this.#timer);
    this.shown = interrupt;
  }

  /** Shows the outcome of an interrupt that was decided in another client or has expired. */
  async #settle(id: string): Promise<void> {
    const read = await get<Interrupt>(`/v1/interrupts/${encodeURIComponent(id)}`).catch(() => undefined);
    if (!read || read.id !== this.shown?.id || this.shown.status !== "open") return;
    if (read.status === "resolved") this.#end(read, SETTLE_MS.elsewhere);
    else this.#show(read);
  }

  #end(interrupt: Interrupt, settle_ms: number): void {
    this.#show(interrupt);
    // The card still offers the typed text, so the card stays.
    if (drafts.any(interrupt.id)) return;
    this.#timer = setTimeout(() => this.#show(this.#open.find((each) => each.id !== interrupt.id)), settle_ms);
  }
}
