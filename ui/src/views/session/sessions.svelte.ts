// The list of conversations, read page by page and updated after events. Each row contains the run that describes the
// conversation.
import { get, query } from "../../api/client";
import type { List, Run, Session } from "../../api/types";
import { live } from "../../state/session.svelte";

const PAGE = 50;
const MOST = 200;
/** Number of matching rows that are loaded automatically. */
const ENOUGH = 20;
/** Maximum number of pages that are read to find these rows. */
const PAGES = 4;
const GATHER_MS = 500;
const SEEN = /^(session_|said|front_taken|run_|interrupt_|adopted)/;

export interface Row {
  session: Session;
  /** The front run, otherwise the newest run. */
  run?: Run;
}

export class Sessions {
  /** True if only sessions that accept messages are listed. */
  isSpoken = $state(new URLSearchParams(location.search).get("which") !== "all");
  items = $state.raw<Row[]>([]);
  next = $state.raw<string>();
  isLoaded = $state(false);
  isReading = $state(false);
  problem = $state.raw<unknown>();
  readonly shown = $derived(this.isSpoken ? this.items.filter(({ session }) => session.workflow) : this.items);
  #timer: ReturnType<typeof setTimeout> | undefined;

  follow(): () => void {
    void this.refresh().then(() => this.#fill(ENOUGH));
    const stop = live.follow({
      topic: "all",
      previews: false,
      started: () => this.#soon(),
      event: (event) => {
        if (SEEN.test(event.type)) this.#soon();
      },
    });
    return () => {
      stop();
      clearTimeout(this.#timer);
    };
  }

  choose(isSpoken: boolean): void {
    this.isSpoken = isSpoken;
    history.replaceState(null, "", `/sessions${query({ which: isSpoken ? undefined : "all" })}`);
    void this.#fill(ENOUGH);
  }

  async refresh(): Promise<void> {
    await this.#read(Math.min(Math.max(this.items.length, PAGE), MOST), undefined, (rows) => {
      const known = new Set(rows.map(({ session }) => session.id));
      const last = rows.at(-1)?.session.created_at ?? "";
      // Rows after this page stay unchanged.
      const older = rows.length < MOST ? [] : this.items.filter(({ session }) => !known.has(session.id) && session.created_at < last);
      return [...rows, ...older];
    });
  }

  async more(): Promise<void> {
    const before = this.shown.length;
    await this.#read(PAGE, this.next, (rows) => {
      const known = new Set(this.items.map(({ session }) => session.id));
      return [...this.items, ...rows.filter(({ session }) => !known.has(session.id))];
    });
    await this.#fill(before + 1);
  }

  /**
   * Reads further pages until enough rows match. Runs without a conversation also have sessions, and these do not
   * match.
   */
  async #fill(enough: number): Promise<void> {
    for (let n = 0; n < PAGES && this.next && this.shown.length < enough; n += 1) {
      await this.#read(MOST, this.next, (rows) => [...this.items, ...rows]);
    }
  }

  async #read(limit: number, cursor: string | undefined, put: (rows: Row[]) => Row[]): Promise<void> {
    this.isReading = true;
    try {
      const page = await get<List<Session>>(`/v1/sessions${query({ cursor, limit })}`);
      const rows = await this.#rows(page.items);
      const items = put(rows);
      if (items.length === rows.length || cursor) this.next = page.next_cursor ?? undefined;
      this.items = items;
      this.isLoaded = true;
      this.problem = undefined;
    } catch (problem) {
      this.problem = problem;
    } finally {
      this.isReading = false;
    }
  }

  /**
   * Returns the sessions with their runs. Most of the needed runs are among the newest runs, which one request reads.
   */
  async #rows(sessions: Session[]): Promise<Row[]> {
    const newest = await get<List<Run>>(`/v1/runs${query({ limit: MOST })}`);
    const known = new Map(newest.items.map((run) => [run.id, run]));
    const about = ({ front_run: front, runs }: Session): string | undefined => front ?? runs[0];
    const missing = sessions.filter((session) => !this.isSpoken || session.workflow).map(about);
    const absent = missing.filter((id) => id !== undefined && !known.has(id)) as string[];
    const read = await Promise.all(absent.map((id) => get<Run>(`/v1/runs/${encodeURIComponent(id)}`).catch(() => undefined)));
    for (const run of read) if (run) known.set(run.id, run);
    return sessions.map((session) => ({ session, run: known.get(about(session) ?? "") }));
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.refresh();
    }, GATHER_MS);
  }
}
