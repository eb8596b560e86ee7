// The current state of a session: its newest runs with their events, and their open interrupts. Runs that start while
// the page is open are appended.
import { get, Problem, query } from "../../api/client";
import type { Interrupt, List, Run, Session } from "../../api/types";
import { live } from "../../state/session.svelte";
import { Following } from "../run/run.svelte";

/** Number of runs per page. */
const PAGE = 10;
const GATHER_MS = 60;
const AGAIN_MS = 2_000;

export class Conversation {
  readonly id: string;
  session = $state.raw<Session>();
  /** The loaded runs, oldest first. */
  runs = $state.raw<Following[]>([]);
  /** Cursor of the page with earlier runs. */
  before = $state.raw<string>();
  isReading = $state(false);
  problem = $state.raw<unknown>();
  /** True if all loaded runs have been read to their ends at least once. */
  readonly isCaughtUp = $derived(this.session !== undefined && this.runs.every((run) => run.isCaughtUp));
  readonly front = $derived(this.runs.find((run) => run.id === this.session?.front_run));
  /** The run that receives messages and that can be stopped: the live front run, otherwise the newest live run. */
  readonly live = $derived(this.front && !this.front.isOver ? this.front : this.runs.findLast((run) => run.run && !run.isOver));
  readonly open = $derived(
    this.runs
      .flatMap((run) => run.open)
      .sort((a, b) => a.created_at.localeCompare(b.created_at)),
  );
  readonly canHear = $derived(Boolean(this.session?.workflow) || Boolean(this.front && !this.front.isOver));

  readonly #stops = new Map<string, () => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isReading = false;
  #again = false;
  #isLoaded = false;

  constructor(id: string) {
    this.id = id;
  }

  follow(): () => void {
    const stop = live.follow({
      topic: "all",
      previews: false,
      started: () => this.soon(),
      event: (event) => {
        if (event.stream === this.id || event.type === "run_started") this.soon();
      },
    });
    void this.read();
    return () => {
      stop();
      clearTimeout(this.#timer);
      this.#stops.forEach((stop) => stop());
    };
  }

  soon(after_ms = GATHER_MS): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.read();
    }, after_ms);
  }

  async read(): Promise<void> {
    if (this.#isReading) {
      this.#again = true;
      return;
    }
    this.#isReading = true;
    try {
      const session = await get<Session>(`/v1/sessions/${encodeURIComponent(this.id)}`);
      await this.#readNew();
      this.session = session;
      this.problem = undefined;
    } catch (problem) {
      const isAway = problem instanceof Problem && problem.code === "unreachable";
      if (!this.session && !isAway) this.problem = problem;
      // If the server does not respond, the session is read again after the connection is restored.
      else if (!isAway) this.soon(AGAIN_MS);
    } finally {
      this.#isReading = false;
      if (this.#again) {
        this.#again = false;
        this.soon();
      }
    }
  }

  /** Loads the page of runs that precede the first loaded run. */
  async earlier(): Promise<void> {
    if (this.isReading || !this.before) return;
    this.isReading = true;
    try {
      const page = await this.#page(this.before);
      this.#add(page.items);
      this.before = page.next_cursor ?? undefined;
    } catch (problem) {
      this.problem = problem;
    } finally {
      this.isReading = false;
    }
  }

  take(interrupt: Interrupt): void {
    void this.runs.find((run) => run.id === interrupt.run)?.read();
  }

  /** Reads all runs that are newer than the known runs. The first read loads only the newest page. */
  async #readNew(): Promise<void> {
    let page = await this.#page();
    const fresh = [...page.items];
    while (this.#isLoaded && page.next_cursor && !page.items.some((run) => this.#stops.has(run.id)) && this.runs.length > 0) {
      page = await this.#page(page.next_cursor);
      fresh.push(...page.items);
    }
    if (!this.#isLoaded) this.before = page.next_cursor ?? undefined;
    this.#isLoaded = true;
    this.#add(fresh);
  }

  #page(cursor?: string): Promise<List<Run>> {
    return get<List<Run>>(`/v1/runs${query({ session: this.id, limit: PAGE, cursor })}`);
  }

  #add(runs: Run[]): void {
    const fresh = runs.filter((run) => !this.#stops.has(run.id));
    if (fresh.length === 0) return;
    const added = fresh.map((run) => {
      const following = new Following(run.id);
      following.take(run);
      this.#stops.set(run.id, following.follow());
      return following;
    });
    // Ids are ordered by time.
    this.runs = [...this.runs, ...added].sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}
