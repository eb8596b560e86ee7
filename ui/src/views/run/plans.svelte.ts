// The current plans of a run. They are read again after each event that changes a subtask.
import { get } from "../../api/client";
import type { Event, List, Plan } from "../../api/types";

const READ_MS = 80;
const AGAIN_MS = 2_000;
/** Types of events of runs with a plan. The plans are read from the first such event on. */
const PLANNED = /^plan_/;
const MOVES = /^(plan_|step_|interrupt_|run_|adopted|tool_(started|finished|doubted|returned))/;

export class Plans {
  readonly run: string;
  items = $state.raw<Plan[]>([]);
  #seen = 0;
  #has = false;
  #reading = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(run: string) {
    this.run = run;
  }

  /** Receives all events so far. Each call passes the same list with further events appended. */
  hear(events: readonly Event[]): void {
    const fresh = events.slice(this.#seen);
    this.#seen = events.length;
    this.#has ||= fresh.some((event) => PLANNED.test(event.type));
    if (this.#has && fresh.some((event) => MOVES.test(event.type))) this.#soon(READ_MS);
  }

  /** Updates the plans from the response to another request. */
  take(items: Plan[]): void {
    this.#reading += 1;
    this.items = items;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#reading += 1;
  }

  #soon(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.read(), ms);
  }

  async read(): Promise<void> {
    const reading = ++this.#reading;
    try {
      const { items } = await get<List<Plan>>(`/v1/runs/${encodeURIComponent(this.run)}/plans`);
      if (reading === this.#reading) this.items = items;
    } catch {
      // The server is unreachable or busy: the connection banner shows this.
      if (reading === this.#reading) this.#soon(AGAIN_MS);
    }
  }
}
