// Open calls that an approval for this session would cover, and which of them stay selected.
import { get } from "../../../api/client";
import type { AlsoCovered, Decision, Interrupt } from "../../../api/types";

export class Also {
  covered = $state.raw<AlsoCovered[]>([]);
  #kept = $state.raw<ReadonlySet<string>>(new Set());
  #isRead = false;

  /** Ids of the interrupts that are released with the grant. */
  get kept(): string[] {
    return this.covered.map((each) => each.interrupt).filter((id) => this.#kept.has(id));
  }

  keeps(id: string): boolean {
    return this.#kept.has(id);
  }

  /**
   * Reads the list again. A call that was opened after the first read is not selected, because the person may not have
   * seen it.
   */
  async read(id: string): Promise<void> {
    const now = await get<Interrupt>(`/v1/interrupts/${encodeURIComponent(id)}`).catch(() => undefined);
    if (!now) return;
    this.covered = now.also_covers ?? [];
    if (this.#isRead) return;
    this.#isRead = true;
    this.#kept = new Set(this.covered.map((each) => each.interrupt));
  }

  keep(id: string, isKept: boolean): void {
    const kept = new Set(this.#kept);
    if (isKept) kept.add(id);
    else kept.delete(id);
    this.#kept = kept;
  }

  /** Fields for the decision. */
  get fields(): Pick<Decision, "also" | "also_shown"> {
    if (this.covered.length === 0) return {};
    return { also: this.kept, also_shown: this.covered.map((each) => each.interrupt) };
  }
}
