// What all fields of one form share: whether somebody tried to send it, and which of them hold what is no value.
import { getContext, setContext } from "svelte";

export class Filling {
  /** Somebody tried to send it: what is missing is told from now on. */
  isTold = $state(false);
  /** A text that is empty is kept: it may replace one. */
  readonly hasEmpty: boolean;
  readonly #ids = new Set<string>();
  #broken = $state(0);

  constructor(hasEmpty = false) {
    this.hasEmpty = hasEmpty;
  }

  /** A field holds what is no value, such as half a number: it can not be sent, nor be left out. */
  get isBroken(): boolean {
    return this.#broken > 0;
  }

  /** For an effect of the field: it says so until it says otherwise, or is gone. */
  mark(id: string, isBroken: boolean): () => void {
    const set = (isBroken: boolean): void => {
      if (isBroken) this.#ids.add(id);
      else this.#ids.delete(id);
      this.#broken = this.#ids.size;
    };
    set(isBroken);
    return () => set(false);
  }
}

const KEY = Symbol("filling");

export function provide(filling: Filling): Filling {
  return setContext(KEY, filling);
}

export function filling(): Filling {
  return getContext<Filling | undefined>(KEY) ?? new Filling();
}

/** To the first field that something is wrong with. */
export function toFirstWrong(within: Element | null | undefined): void {
  const wrong = within?.querySelector("[data-wrong=true], [aria-invalid=true]");
  const own = "input, textarea, select, button";
  const focusable = wrong?.matches(own) ? wrong : wrong?.querySelector(own);
  if (focusable instanceof HTMLElement) focusable.focus();
}
