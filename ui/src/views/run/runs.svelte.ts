// The list of runs: filtered, read page by page, and updated after events.
import { get, query } from "../../api/client";
import type { List, Run, Workflow } from "../../api/types";
import { live } from "../../state/session.svelte";

const PAGE = 50;
/** Maximum page size of the server. Only this number of rows is kept up to date. */
const MOST = 200;
const GATHER_MS = 500;
/** Types of events that change a row of the list. */
const SEEN = /^(run_|interrupt_|adopted|model_started|tool_started)/;

export class Runs {
  status = $state(new URLSearchParams(location.search).get("status") ?? "");
  workflow = $state(new URLSearchParams(location.search).get("workflow") ?? "");
  workflows = $state.raw<string[]>([]);
  items = $state.raw<Run[]>([]);
  next = $state.raw<string>();
  isLoaded = $state(false);
  isReading = $state(false);
  problem = $state.raw<unknown>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Version of the filter. The response to a request with an older filter is ignored. */
  #version = 0;

  follow(): () => void {
    void this.refresh();
    void this.#readWorkflows();
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

  filter(change: { status?: string; workflow?: string }): void {
    this.status = change.status ?? this.status;
    this.workflow = change.workflow ?? this.workflow;
    history.replaceState(null, "", `/runs${query({ status: this.status, workflow: this.workflow })}`);
    this.#version++;
    this.items = [];
    this.next = undefined;
    this.isLoaded = false;
    void this.refresh();
  }

  async more(): Promise<void> {
    await this.#read(PAGE, this.next, (page) => {
      const known = new Set(this.items.map((run) => run.id));
      this.items = [...this.items, ...page.items.filter((run) => !known.has(run.id))];
      this.next = page.next_cursor ?? undefined;
    });
  }

  async refresh(): Promise<void> {
    const shown = Math.min(Math.max(this.items.length, PAGE), MOST);
    await this.#read(shown, undefined, (page) => {
      const isAll = !page.next_cursor;
      const fresh = new Set(page.items.map((run) => run.id));
      const last = page.items.at(-1)?.created_at ?? "";
      // Rows after this page stay unchanged.
      const older = isAll ? [] : this.items.filter((run) => !fresh.has(run.id) && run.created_at < last);
      this.items = [...page.items, ...older];
      if (older.length === 0) this.next = page.next_cursor ?? undefined;
    });
  }

  async #read(limit: number, cursor: string | undefined, take: (page: List<Run>) => void): Promise<void> {
    const version = this.#version;
    this.isReading = true;
    try {
      const page = await get<List<Run>>(`/v1/runs${query({ status: this.status, workflow: this.workflow, cursor, limit })}`);
      if (version !== this.#version) return;
      take(page);
      this.isLoaded = true;
      this.problem = undefined;
    } catch (problem) {
      if (version === this.#version) this.problem = problem;
    } finally {
      this.isReading = false;
    }
  }

  async #readWorkflows(): Promise<void> {
    const page = await get<List<Workflow>>("/v1/workflows").catch(() => undefined);
    this.workflows = page?.items.map((workflow) => workflow.name) ?? [];
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.refresh();
    }, GATHER_MS);
  }
}
