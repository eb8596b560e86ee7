// The decisions of one server: a single event stream for any number of waits.
//
// The stream starts at a position that the server read before it opened the first question, and closes after the last
// wait. Each connection continues after the last event of the one before, so every decision is heard once. Open waits
// are read again only if the position is unknown, or if the stream cannot be opened.

import { backoffMs, sleep } from "./backoff.js";
import { HoldshortError, Refused, refused, Unauthenticated } from "./errors.js";
import { readEvents, type ServerEvent } from "./event-stream.js";
import { isFinal, type Server } from "./server.js";
import type { Interrupt, Problem } from "./wire.js";

/** A connection without a byte for this time is lost. The server sends a ping every 15 seconds. */
const SILENCE_MS = 45_000;

/** Time for which the stream stays open after the last wait. */
const LINGER_MS = 300;

/** Number of waits that are read again at the same time. */
const READERS = 8;

interface Wait {
  resolve(interrupt: Interrupt): void;
  reject(error: unknown): void;
}

export class Decisions {
  readonly #server: Server;
  readonly #log: (line: string) => void;
  /** Waits by the id of their interrupt. */
  readonly #waits = new Map<string, Set<Wait>>();
  /** Decisions that were heard while a question was being asked, by the id of their interrupt. */
  readonly #heard = new Map<string, Interrupt>();
  /** Number of questions that are being asked or waited for. */
  #users = 0;
  /** Number of questions whose request is under way. */
  #asking = 0;
  /** Position at which the next connection starts. Empty if unknown: the connection then reads all waits. */
  #cursor = "";
  /** Number of the position at which the stream starts. Undefined if unknown. */
  #start: number | undefined;
  #stream: AbortController | undefined;
  #linger: NodeJS.Timeout | undefined;
  /** Interrupts to read again. */
  readonly #stale = new Set<string>();
  /** Number of active readers. */
  #readers = 0;

  constructor(server: Server, log: (line: string) => void) {
    this.#server = server;
    this.#log = log;
  }

  /**
   * Asks a question with `ask`, and returns its interrupt once it is resolved. The cursor of `ask` is before the
   * decision. `opened` is called if the interrupt is still open after the request.
   */
  async decide(
    ask: () => Promise<{ interrupt: Interrupt; cursor: string }>,
    opened: (interrupt: Interrupt) => void,
    signal?: AbortSignal,
  ): Promise<Interrupt> {
    clearTimeout(this.#linger);
    this.#users += 1;
    this.#asking += 1;
    let asking = true;
    const asked = () => {
      if (!asking) return;
      asking = false;
      this.#asking -= 1;
      if (this.#asking === 0) this.#heard.clear();
    };
    try {
      const { interrupt, cursor } = await ask();
      if (interrupt.status === "resolved") return interrupt;
      const heard = this.#heard.get(interrupt.id);
      if (heard !== undefined) return heard;
      const isUnsure = this.#follow(cursor);
      const resolved = this.#wait(interrupt.id, signal);
      // `opened` may throw, and then nobody listens to the wait any more.
      resolved.catch(() => {});
      asked();
      opened(interrupt);
      if (isUnsure) this.#reread([interrupt.id]);
      return await resolved;
    } finally {
      asked();
      this.#users -= 1;
      if (this.#users === 0) this.#linger = setTimeout(() => this.#stop(), LINGER_MS);
    }
  }

  /** Starts the stream at a position if there is none. Returns true if the present stream may start after it. */
  #follow(cursor: string): boolean {
    if (this.#stream !== undefined) {
      const asked = positionNumber(cursor);
      return asked === undefined || this.#start === undefined || asked < this.#start;
    }
    this.#stream = new AbortController();
    this.#startAt(cursor);
    void this.#connect(this.#stream.signal);
    return false;
  }

  #startAt(cursor: string): void {
    this.#cursor = cursor;
    this.#start = positionNumber(cursor);
  }

  #stop(): void {
    this.#stream?.abort();
    this.#stream = undefined;
  }

  #wait(id: string, signal: AbortSignal | undefined): Promise<Interrupt> {
    return new Promise((resolve, reject) => {
      const waits = this.#waits.get(id) ?? new Set<Wait>();
      this.#waits.set(id, waits);
      const end =
        <T>(then: (value: T) => void) =>
        (value: T) => {
          waits.delete(wait);
          if (waits.size === 0 && this.#waits.get(id) === waits) this.#waits.delete(id);
          signal?.removeEventListener("abort", abort);
          then(value);
        };
      const wait: Wait = { resolve: end(resolve), reject: end(reject) };
      const abort = () => wait.reject(signal?.reason);
      waits.add(wait);
      if (signal?.aborted) abort();
      else signal?.addEventListener("abort", abort, { once: true });
    });
  }

  #settle(interrupt: Interrupt): void {
    if (interrupt.status !== "resolved") return;
    if (this.#asking > 0) this.#heard.set(interrupt.id, interrupt);
    for (const wait of [...(this.#waits.get(interrupt.id) ?? [])]) wait.resolve(interrupt);
  }

  /** Connects again and again until the stream is stopped. */
  async #connect(stop: AbortSignal): Promise<void> {
    let failures = 0;
    // The first question had access, so a stream that is refused with 401 has just lost it.
    let accessEnded = true;
    while (!stop.aborted) {
      let reason: string;
      let retryAfter = 0;
      try {
        await this.#connection(stop, () => {
          failures = 0;
        });
        accessEnded = true;
        reason = "the server closed it";
      } catch (error) {
        if (stop.aborted) return;
        if (accessEnded && error instanceof Unauthenticated) {
          // The new secret of a rotated key may be stored a moment after the old secret has ended.
          accessEnded = false;
          retryAfter = 1_000;
        } else if (isFinal(error)) {
          return this.#fail(error);
        } else if (error instanceof Refused) {
          retryAfter = error.retryAfterMs;
        }
        if (isUnknownPosition(error)) this.#startAt("");
        reason = (error as Error).message;
      }
      if (stop.aborted) return;
      failures += 1;
      // One lost connection is normal: a server restarts, a proxy ends long requests.
      if (failures > 1 && this.#waits.size > 0) {
        this.#log(`holdshort: no stream of decisions (${reason}); waits go on: ${this.#waits.size}`);
        this.#reread(this.#waits.keys());
      }
      await sleep(backoffMs(failures, retryAfter), stop).catch(() => {});
    }
  }

  /** Follows the stream until the connection ends. */
  async #connection(stop: AbortSignal, opened: () => void): Promise<void> {
    const silence = new AbortController();
    const abort = () => silence.abort(stop.reason);
    stop.addEventListener("abort", abort, { once: true });
    const late = () => silence.abort(new Error(`nothing received for ${SILENCE_MS} ms`));
    let timer = setTimeout(late, SILENCE_MS);
    try {
      const at = this.#cursor === "" ? "" : `?cursor=${encodeURIComponent(this.#cursor)}`;
      const response = await this.#server.open(`/v1/agent/decisions${at}`, silence.signal);
      for await (const event of readEvents(response.body as unknown as AsyncIterable<Uint8Array>)) {
        clearTimeout(timer);
        timer = setTimeout(late, SILENCE_MS);
        if (event === undefined) continue;
        if (event.name === "position") {
          opened();
          if (this.#cursor === "") {
            this.#startAt(event.id);
            this.#reread(this.#waits.keys());
          }
        }
        if (!this.#receive(event)) return;
      }
    } finally {
      clearTimeout(timer);
      stop.removeEventListener("abort", abort);
    }
  }

  /** Handles an event. Returns false if the connection has to be opened again with a new token. */
  #receive({ name, id, data }: ServerEvent): boolean {
    if (name === "problem") {
      const problem = JSON.parse(data) as Problem;
      if (problem.code !== "access_ended") throw refused(problem);
      this.#server.forgetToken();
      return false;
    }
    if (name === "decision") this.#settle((JSON.parse(data) as { interrupt: Interrupt }).interrupt);
    this.#cursor = id;
    return true;
  }

  /** Reads interrupts again, and settles their waits. */
  #reread(ids: Iterable<string>): void {
    for (const id of ids) this.#stale.add(id);
    while (this.#readers < Math.min(READERS, this.#stale.size)) {
      this.#readers += 1;
      void this.#read().finally(() => {
        this.#readers -= 1;
      });
    }
  }

  async #read(): Promise<void> {
    for (;;) {
      const [id] = this.#stale;
      if (id === undefined) return;
      this.#stale.delete(id);
      const waits = this.#waits.get(id);
      if (waits === undefined) continue;
      try {
        this.#settle(await this.#server.send<Interrupt>({ method: "GET", path: `/v1/interrupts/${id}` }));
      } catch (error) {
        // Without an answer, the next attempt to connect reads again.
        const isGone = error instanceof Refused && error.status === 404;
        if (isGone || isFinal(error)) for (const wait of [...waits]) wait.reject(error);
      }
    }
  }

  /** Ends all waits, because no later attempt can succeed. */
  #fail(error: unknown): void {
    this.#stop();
    for (const waits of [...this.#waits.values()]) for (const wait of [...waits]) wait.reject(error);
  }
}

/** Returns true if the server does not know the position, such as after a restore of another data folder. */
function isUnknownPosition(error: unknown): boolean {
  return error instanceof HoldshortError && error.code === "invalid_query";
}

/** Returns the number by which positions are ordered. */
function positionNumber(cursor: string): number | undefined {
  const [, digits] = /^p([0-9]{1,15})$/.exec(cursor) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
