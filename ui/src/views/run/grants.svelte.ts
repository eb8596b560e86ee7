// The grants of sessions: active grants and, on demand, revoked grants.
import { get, query, remove } from "../../api/client";
import type { Grant, List } from "../../api/types";
import { live } from "../../state/session.svelte";

const PAGE = 100;
const MOST = 200;
const GATHER_MS = 200;

type Status = "active" | "revoked";

/** The list of active grants or the list of revoked grants, read page by page. */
export class Half {
  readonly status: Status;
  items = $state.raw<Grant[]>([]);
  next = $state.raw<string>();
  isLoaded = $state(false);
  problem = $state.raw<unknown>();

  constructor(status: Status) {
    this.status = status;
  }

  async refresh(): Promise<void> {
    await this.#read(Math.min(Math.max(this.items.length, PAGE), MOST), undefined, (items) => {
      const oldest = items.at(-1)?.id ?? "";
      // Ids are ordered by time, so grants after this page stay unchanged.
      const older = items.length < MOST ? [] : this.items.filter((grant) => grant.id < oldest);
      return [...items, ...older];
    });
  }

  async more(): Promise<void> {
    await this.#read(PAGE, this.next, (items) => [...this.items, ...items]);
  }

  async #read(limit: number, cursor: string | undefined, put: (items: Grant[]) => Grant[]): Promise<void> {
    try {
      const page = await get<List<Grant>>(`/v1/grants${query({ status: this.status, cursor, limit })}`);
      const items = put(page.items);
      if (items.length === page.items.length || cursor) this.next = page.next_cursor ?? undefined;
      this.items = items;
      this.isLoaded = true;
      this.problem = undefined;
    } catch (problem) {
      this.problem = problem;
    }
  }
}

export class Grants {
  readonly active = new Half("active");
  readonly revoked = new Half("revoked");
  #timer: ReturnType<typeof setTimeout> | undefined;

  follow(): () => void {
    void this.active.refresh();
    const stop = live.follow({
      topic: "all",
      previews: false,
      started: () => this.#soon(),
      event: (event) => {
        if (event.type.startsWith("grant_")) this.#soon();
      },
    });
    return () => {
      stop();
      clearTimeout(this.#timer);
    };
  }

  async revoke(grant: Grant): Promise<void> {
    await remove<Grant>(`/v1/grants/${encodeURIComponent(grant.id)}`);
    await this.#refresh();
  }

  async #refresh(): Promise<void> {
    await Promise.all([this.active.refresh(), this.revoked.isLoaded ? this.revoked.refresh() : undefined]);
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#refresh();
    }, GATHER_MS);
  }
}
