// The current state of one run. It is read once, and then updated by events. Several events that arrive together cause
// a single redraw.
import { get, Problem, query } from "../../api/client";
import type { Event, Interrupt, List, Preview, Run, Status } from "../../api/types";
import { whenInboxChanges } from "../../state/inbox.svelte";
import { live } from "../../state/session.svelte";
import type { Call, Item } from "./items";
import { type Arriving, Previews } from "./previews";
import { Story } from "./story";

/** Delay in which events are collected before a redraw. */
const DRAW_MS = 40;
const READ_MS = 120;
/** Events that can change fields of the run itself. After such an event, the run is read again. */
const MOVES = /^(run_|interrupt_|decision_made|vote_withdrawn|adopted|model_started|model_failed|model_stopped|tool_started|tool_doubted)/;
const ENDS = /^run_(completed|failed|cancelled)$/;
const OVER: Status[] = ["completed", "failed", "cancelled"];

/**
 * Returns true if the run has to be read again after this event. After an interruption, the run may wait only for the
 * person.
 */
function moves({ type, data }: Event): boolean {
  return MOVES.test(type) || (data as { code?: string }).code === "interrupted";
}

export class Following {
  readonly id: string;
  run = $state.raw<Run>();
  /** Open interrupts of the run. */
  open = $state.raw<Interrupt[]>([]);
  events = $state.raw<Event[]>([]);
  items = $state.raw<Item[]>([]);
  arriving = $state.raw<Arriving[]>([]);
  /** Commands that a person can stop. */
  commands = $state.raw<Call[]>([]);
  /** True if the run has changes that can be undone. */
  hasChanged = $state(false);
  /** Names of the agents that wait for their model's reply. */
  thinking = $state.raw<string[]>([]);
  problem = $state.raw<unknown>();
  /** True if all events up to the last read of the run have arrived. */
  readonly isCaughtUp = $derived(this.run !== undefined && (this.events.at(-1)?.seq ?? 0) >= this.run.seq);
  readonly isOver = $derived(this.run !== undefined && OVER.includes(this.run.status));

  readonly #story = new Story();
  readonly #previews = new Previews();
  #seq = 0;
  #hasEnded = false;
  #reading = 0;
  #fresh: Event[] = [];
  #draw: ReturnType<typeof setTimeout> | undefined;
  #read: ReturnType<typeof setTimeout> | undefined;

  constructor(id: string) {
    this.id = id;
  }

  /** Follows the run until the returned function is called. */
  follow(): () => void {
    void this.read();
    const stop = live.follow({
      topic: "run",
      run: this.id,
      since: 0,
      previews: true,
      event: (event) => this.#event(event),
      preview: (preview) => this.#preview(preview),
      started: () => {
        // Previews of the time without connection are missing, and an incomplete sentence would mislead the reader.
        this.#previews.clear();
        this.#soon();
      },
    });
    const stopHearing = whenInboxChanges(({ type }) => {
      if (type.endsWith("frozen") && this.open.length > 0) this.#soon();
    });
    return () => {
      stop();
      stopHearing();
      clearTimeout(this.#draw);
      clearTimeout(this.#read);
    };
  }

  async read(): Promise<void> {
    const reading = ++this.#reading;
    try {
      const path = encodeURIComponent(this.id);
      const waiting = get<List<Interrupt>>(`/v1/interrupts${query({ run: this.id, status: "open", limit: 200 })}`);
      // If the run does not exist, only the error of the request for the run is reported.
      waiting.catch(() => undefined);
      const run = await get<Run>(`/v1/runs/${path}`);
      const open = await waiting;
      // A newer read has started, so this result is discarded.
      if (reading !== this.#reading) return;
      this.take(run);
      this.open = open.items;
      this.problem = undefined;
      void this.#readLater();
    } catch (problem) {
      const isAway = problem instanceof Problem && problem.code === "unreachable";
      if (!this.run && !isAway) this.problem = problem;
    }
  }

  /** Reads events after the end of the run, such as a legal hold, once. The stream ends before these events. */
  async #readLater(): Promise<void> {
    while (this.isOver && this.#hasEnded && this.run && this.#seq < this.run.seq) {
      const since = this.#seq;
      const path = `/v1/runs/${encodeURIComponent(this.id)}/events${query({ since, limit: 200 })}`;
      const page = await get<List<Event>>(path).catch(() => undefined);
      page?.items.forEach((event) => this.#event(event));
      if (this.#seq === since) return;
    }
  }

  /** Updates the run from a response, unless a newer state is known. */
  take(run: Run): void {
    if (!this.run || run.seq >= this.run.seq) this.run = run;
  }

  #event(event: Event): void {
    if (event.seq <= this.#seq) return;
    this.#seq = event.seq;
    this.#story.tell(event);
    this.#fresh.push(event);
    this.#settle(event);
    if (ENDS.test(event.type)) {
      this.#hasEnded = true;
      void this.#readLater();
    }
    if (moves(event) && event.seq > (this.run?.seq ?? 0)) this.#soon();
    this.#drawSoon();
  }

  /** Removes the preview that this event replaces. */
  #settle({ type, data }: Event): void {
    const { step, call } = data as { step?: string; call?: string };
    if (type.startsWith("model_") && step) this.#previews.drop(step);
    if (type.startsWith("tool_") && call && !this.#story.running.has(call)) this.#previews.drop(call);
  }

  #preview(preview: Preview): void {
    // A preview is ignored if the event with the final text has already arrived.
    const isAwaited = preview.call ? this.#story.running.has(preview.call) : this.#story.asking.has(preview.step);
    // The JSON of a plan is not readable until it is complete.
    if (!isAwaited || (!preview.call && this.#story.planners.has(preview.step))) return;
    this.#previews.add(preview);
    this.#drawSoon();
  }

  #soon(): void {
    this.#read ??= setTimeout(() => {
      this.#read = undefined;
      void this.read();
    }, READ_MS);
  }

  #drawSoon(): void {
    this.#draw ??= setTimeout(() => {
      this.#draw = undefined;
      if (this.#fresh.length > 0) {
        this.events = this.events.concat(this.#fresh);
        this.#fresh = [];
        this.items = this.#story.items.slice();
        this.commands = this.#story.commands();
        this.hasChanged = this.#story.hasChanged();
      }
      this.arriving = this.#previews.list();
      const heard = new Set(this.arriving.map((each) => each.key));
      this.thinking = [...this.#story.asking].filter(([step]) => !heard.has(step)).map(([, agent]) => agent);
    }, DRAW_MS);
  }

  /** Returns the call to which a command's output belongs, and the agent of the step. */
  nameOf(arriving: Arriving): { call: ReturnType<Story["call"]>; agent: string } {
    return {
      call: arriving.call ? this.#story.call(arriving.call) : undefined,
      agent: this.#story.asking.get(arriving.step) ?? "",
    };
  }
}
