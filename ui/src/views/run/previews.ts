// Previews: text that a model writes or a command prints, until the event with the result.
import type { Preview } from "../../api/types";

export interface Arriving {
  key: string;
  step: string;
  call?: string;
  text: string;
}

/** Maximum preview, more than a person can follow. The event has the whole result. */
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

/** Returns the end of a text, from the start of a line. */
function tail(text: string): string {
  let from = Math.max(0, text.length - CHARACTERS);
  let lines = 0;
  for (let at = text.length - 2; at >= from; at--) {
    if (text.charCodeAt(at) === 10 && ++lines === LINES) from = at + 1;
  }
  return from > 0 ? text.slice(from) : text;
}
