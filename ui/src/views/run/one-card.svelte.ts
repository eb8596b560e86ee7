// Of all that waits, the one whose card is shown: its keys and its bar are the only ones of the page. What is looked at
// stays, however others come and go, and shows for a moment how it ended.
import { get } from "../../api/client";
import type { Interrupt } from "../../api/types";
import { drafts } from "../../state/drafts";

/** How long an outcome keeps its place: a second click or key is never for a card that nobody has seen. */
const SETTLE_MS = { here: 700, elsewhere: 250 };

export class OneCard {
  shown = $state.raw<Interrupt>();
  #open: Interrupt[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** To be called with each new list of what waits. */
  take(open: Interrupt[]): void {
    this.#open = open;
    const current = open.find((each) => each.id === this.shown?.id);
    if (!this.shown) this.#show(open[0]);
    // What is resolved stays so, whatever an older reading says.
    else if (this.shown.status === "open" && current) this.#show(current);
    else if (this.shown.status === "open") void this.#settle(this.shown.id);
  }

  pick(interrupt: Interrupt): void {
    this.#show(interrupt);
  }

  /** By this person, here. */
  decided(interrupt: Interrupt): void {
    // Others have to agree.
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

  /** It was decided elsewhere, or its time is over: shows how it ended. */
  async #settle(id: string): Promise<void> {
    const read = await get<Interrupt>(`/v1/interrupts/${encodeURIComponent(id)}`).catch(() => undefined);
    if (!read || read.id !== this.shown?.id || this.shown.status !== "open") return;
    if (read.status === "resolved") this.#end(read, SETTLE_MS.elsewhere);
    else this.#show(read);
  }

  #end(interrupt: Interrupt, settle_ms: number): void {
    this.#show(interrupt);
    // What was typed on it is offered there.
    if (drafts.any(interrupt.id)) return;
    this.#timer = setTimeout(() => this.#show(this.#open.find((each) => each.id !== interrupt.id)), settle_ms);
  }
}
