// The agents of a run, and which agents they wait for. They are read again after each event that changes them.
import { get } from "../../api/client";
import type { Event, List, Work } from "../../api/types";

const READ_MS = 150;
const AGAIN_MS = 2_000;
const MOVES = /^(run_|phase_|step_|interrupt_|model_|adopted|tool_(started|finished|doubted))/;

export class Team {
  readonly run: string;
  work = $state.raw<Work[]>([]);
  #seen = 0;
  #reading = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(run: string) {
    this.run = run;
  }

  /** Receives all events so far. Each call passes the same list with further events appended. */
  hear(events: readonly Event[]): void {
    const fresh = events.slice(this.#seen);
    this.#seen = events.length;
    if (fresh.some((event) => MOVES.test(event.type))) this.#soon(READ_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#reading += 1;
  }

  #soon(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#read();
    }, ms);
  }

  async #read(): Promise<void> {
    const reading = ++this.#reading;
    try {
      const { items } = await get<List<Work>>(`/v1/runs/${encodeURIComponent(this.run)}/work`);
      if (reading === this.#reading) this.work = items;
    } catch {
      // The server is unreachable or busy: the connection banner shows this.
      if (reading === this.#reading) this.#soon(AGAIN_MS);
    }
  }
}
