// Compares two versions of a plan, subtask by subtask.
import type { Part } from "./part";

export interface Changed<T> {
  before: T;
  after: T;
}

export type Change =
  | { kind: "added" | "removed"; part: Part }
  | { kind: "changed"; part: Part; text?: Changed<string>; agent?: Changed<string | undefined>; needs?: Changed<string[]> };

export interface Changes {
  list: Change[];
  /** True if the common subtasks of both versions are in a different order. */
  isReordered: boolean;
}

export function changes(before: readonly Part[], after: readonly Part[]): Changes {
  const old = new Map(before.map((part) => [part.id, part]));
  const now = new Set(after.map((part) => part.id));
  const list: Change[] = [];
  for (const part of after) {
    const was = old.get(part.id);
    const change = was ? changed(was, part) : { kind: "added" as const, part };
    if (change) list.push(change);
  }
  for (const part of before) if (!now.has(part.id)) list.push({ kind: "removed", part });
  const order = (parts: readonly Part[], others: { has: (id: string) => boolean }) =>
    parts.map((part) => part.id).filter((id) => others.has(id));
  return { list, isReordered: order(before, now).join() !== order(after, old).join() };
}

function changed(was: Part, part: Part): Change | undefined {
  const text = was.description === part.description ? undefined : { before: was.description, after: part.description };
  const agent = was.agent === part.agent ? undefined : { before: was.agent, after: part.agent };
  const sorted = (needs: string[]) => [...needs].sort().join();
  const needs =
    sorted(was.depends_on) === sorted(part.depends_on) ? undefined : { before: was.depends_on, after: part.depends_on };
  return text || agent || needs ? { kind: "changed", part, text, agent, needs } : undefined;
}

/** Returns the mark of a subtask in the graph of the later version. */
export function mark(changes: Changes, id: string): "added" | "changed" | undefined {
  const change = changes.list.find((each) => each.kind !== "removed" && each.part.id === id);
  return change?.kind === "removed" ? undefined : change?.kind;
}
