// The plans of a run as they stand: read again whenever something happens that moves a subtask.
import { get } from "../../api/client";
import type { Event, List, Plan } from "../../api/types";

const READ_MS = 80;
const AGAIN_MS = 2_000;
/** Of one that has a plan; before that nothing is read. */
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

  /** What has happened so far, in order: always the same list, longer each time. */
  hear(events: readonly Event[]): void {
    const fresh = events.slice(this.#seen);
    this.#seen = events.length;
    this.#has ||= fresh.some((event) => PLANNED.test(event.type));
    if (this.#has && fresh.some((event) => MOVES.test(event.type))) this.#soon(READ_MS);
  }

  /** Somebody has just been told how they stand. */
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
      // Away, or busy: the connection says so.
      if (reading === this.#reading) this.#soon(AGAIN_MS);
    }
  }
}
