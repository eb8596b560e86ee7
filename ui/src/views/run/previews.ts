// Previews: text that a model is writing or a command is printing, until the event with the result arrives.
import type { Preview } from "../../api/types";

export interface Arriving {
  key: string;
  step: string;
  call?: string;
  text: string;
}

/**
 * Maximum number of lines of a preview. It is more than a person can follow, and the event contains the complete
 * result.
 */
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

/** Returns the last lines of a text, starting at the beginning of a line. */
function tail(text: string): string {
  let from = Math.max(0, text.length - CHARACTERS);
  let lines = 0;
  for (let at = text.length - 2; at >= from; at--) {
    if (text.charCodeAt(at) === 10 && ++lines === LINES) from = at + 1;
  }
  return from > 0 ? text.slice(from) : text;
}
