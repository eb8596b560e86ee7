// State that all fields of a form share: whether the person tried to send the form, and which fields contain an invalid
// value.
import { getContext, setContext } from "svelte";

export class Filling {
  /** True if the person tried to send the form. Missing values are reported from then on. */
  isTold = $state(false);
  /** True if an empty text is a valid value, because an edit may empty a text. */
  readonly hasEmpty: boolean;
  readonly #ids = new Set<string>();
  #broken = $state(0);

  constructor(hasEmpty = false) {
    this.hasEmpty = hasEmpty;
  }

  /**
   * True if a field contains an invalid value, such as an incomplete number. The form can then be neither sent nor
   * treated as empty.
   */
  get isBroken(): boolean {
    return this.#broken > 0;
  }

  /** Marks a field as invalid or valid. The returned function removes the mark. Call it in an effect of the field. */
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

/** Moves the focus to the first field with an error. */
export function toFirstWrong(within: Element | null | undefined): void {
  const wrong = within?.querySelector("[data-wrong=true], [aria-invalid=true]");
  const own = "input, textarea, select, button";
  const focusable = wrong?.matches(own) ? wrong : wrong?.querySelector(own);
  if (focusable instanceof HTMLElement) focusable.focus();
}
