// A plan that a person edits: its subtasks in order. Dependencies refer to row keys, so that they stay valid when an id
// changes.
import { t } from "./texts";
import type { Part } from "./part";

export interface Row {
  readonly key: number;
  id: string;
  description: string;
  agent: string;
  needs: number[];
  /** Estimated duration, which is kept and not edited. */
  estimated_time?: string;
}

export interface Wrong {
  id?: string;
  text?: string;
  needs?: string;
}

/** Valid ids of subtasks. The length is the same as in `core::limits::SUBTASK_ID_BYTES`. */
const ID = /^[A-Za-z0-9_.-]{1,64}$/;

export class Rows {
  list = $state<Row[]>([]);
  #next = 1;

  constructor(parts: readonly Part[]) {
    const keys = new Map(parts.map((part) => [part.id, this.#next++]));
    this.list = parts.map((part) => ({
      key: keys.get(part.id) ?? this.#next++,
      id: part.id,
      description: part.description,
      agent: part.agent ?? "",
      needs: part.depends_on.flatMap((need) => keys.get(need) ?? []),
      estimated_time: part.estimated_time,
    }));
  }

  get parts(): Part[] {
    const ids = new Map(this.list.map((row) => [row.key, row.id]));
    return this.list.map(({ id, description, agent, needs, estimated_time }) => ({
      id,
      description,
      agent: agent || undefined,
      depends_on: needs.flatMap((key) => ids.get(key) ?? []),
      estimated_time,
    }));
  }

  add(): Row {
    const taken = new Set(this.list.map((row) => row.id));
    let n = this.list.length + 1;
    while (taken.has(`s${n}`)) n++;
    this.list.push({ key: this.#next++, id: `s${n}`, description: "", agent: "", needs: [] });
    return this.list.at(-1) as Row;
  }

  /** Removes a subtask, and all dependencies on this subtask. */
  remove(key: number): void {
    this.list = this.list.filter((row) => row.key !== key);
    for (const row of this.list) row.needs = row.needs.filter((need) => need !== key);
  }

  /** Moves a subtask. Returns its new index, or undefined if the subtask is already first or last. */
  move(key: number, by: 1 | -1): number | undefined {
    const at = this.list.findIndex((row) => row.key === key);
    const to = at + by;
    if (at < 0 || to < 0 || to >= this.list.length) return undefined;
    const [row] = this.list.splice(at, 1);
    if (row) this.list.splice(to, 0, row);
    return to;
  }

  need(row: Row, key: number, isNeeded: boolean): void {
    row.needs = isNeeded ? [...row.needs, key] : row.needs.filter((need) => need !== key);
  }

  /** Restores a subtask to an earlier version. */
  restore(row: Row, part: Part): void {
    row.description = part.description;
    row.agent = part.agent ?? "";
    row.needs = this.list.filter((other) => part.depends_on.includes(other.id)).map((other) => other.key);
    row.estimated_time = part.estimated_time;
  }

  /** Returns the errors that the server would report, by row key. */
  get wrong(): Map<number, Wrong> {
    const found = new Map<number, Wrong>();
    for (const row of this.list) {
      const wrong: Wrong = {};
      if (row.id === "") wrong.id = t("plan.wrong.id.empty");
      else if (!ID.test(row.id)) wrong.id = t("plan.wrong.id.form");
      else if (this.list.some((other) => other.key !== row.key && other.id === row.id)) wrong.id = t("plan.wrong.id.twice");
      if (row.description.trim() === "") wrong.text = t("plan.wrong.text");
      const circle = this.#circle(row);
      if (circle) wrong.needs = t("plan.wrong.cycle", { chain: circle.map((each) => each.id || "?").join(" → ") });
      if (Object.keys(wrong).length > 0) found.set(row.key, wrong);
    }
    return found;
  }

  /** Returns the dependency cycle that contains a row, with dependencies first. Undefined if there is no cycle. */
  #circle(start: Row): Row[] | undefined {
    const byKey = new Map(this.list.map((row) => [row.key, row]));
    const seen = new Set<number>();
    const walk = (row: Row, way: Row[]): Row[] | undefined => {
      for (const key of row.needs) {
        const need = byKey.get(key);
        if (!need) continue;
        if (key === start.key) return [start, ...way].reverse();
        if (seen.has(key)) continue;
        seen.add(key);
        const found = walk(need, [need, ...way]);
        if (found) return found;
      }
      return undefined;
    };
    return walk(start, [start]);
  }
}
