// Text on its way: what a model writes and what a command prints, until an event says what came of it.
import type { Preview } from "../../api/types";

export interface Arriving {
  key: string;
  step: string;
  call?: string;
  text: string;
}

/** More than a person follows while it runs. The whole result comes with the event. */
const LINES = 200;
const CHARACTERS = 32_000;

export class Previews {
  readonly #arriving = new Map<string, Arriving>();

  add({ step, call, text }: Preview): void {
    const key = call ?? step;
    const before = this.#arriving.get(key)?.text ?? "";
    this.#arriving.set(key, { key, step, call: call ?? undefined, text: tail(before + text) });
  }

  drop(key: string): void {
    this.#arriving.delete(key);
  }

  clear(): void {
    this.#arriving.clear();
  }

  list(): Arriving[] {
    return [...this.#arriving.values()];
  }
}

/** The end of it, from the beginning of a line on. */
function tail(text: string): string {
  let from = Math.max(0, text.length - CHARACTERS);
  let lines = 0;
  for (let at = text.length - 2; at >= from; at--) {
    if (text.charCodeAt(at) === 10 && ++lines === LINES) from = at + 1;
  }
  return from > 0 ? text.slice(from) : text;
}
