// The current plans of a run. They are read again after each event that moves a subtask.
import { get } from "../../api/client";
import type { Event, List, Plan } from "../../api/types";

const READ_MS = 80;
const AGAIN_MS = 2_000;
/** Events of runs with a plan. Reading starts with the first of them. */
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

  /** Takes all events so far. Each call passes the same list, extended. */
  hear(events: readonly Event[]): void {
    const fresh = events.slice(this.#seen);
    this.#seen = events.length;
    this.#has ||= fresh.some((event) => PLANNED.test(event.type));
    if (this.#has && fresh.some((event) => MOVES.test(event.type))) this.#soon(READ_MS);
  }

  /** Takes plans from the answer to another request. */
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
      // The server is away or busy: the connection banner shows it.
      if (reading === this.#reading) this.#soon(AGAIN_MS);
    }
  }
}
