// Subtasks of a plan, read from data that an agent or a person wrote. No shape is assumed.
import type { SubtaskStatus } from "../../api/types";
import { isData } from "../card/payload";

export interface Part {
  id: string;
  description: string;
  agent?: string;
  depends_on: string[];
}

/** A subtask with its position in the graph. */
export interface Drawn extends Part {
  layer: number;
  row: number;
  status?: SubtaskStatus;
  change?: "added" | "changed";
}

const KNOWN = ["id", "description", "agent", "depends_on"];

/**
 * Returns the subtasks of `{subtasks: […]}` or of a bare list. Undefined if a list of subtasks cannot show all of the
 * data.
 */
export function parts(plan: unknown): Part[] | undefined {
  const subtasks = isData(plan) && Object.keys(plan).every((key) => key === "subtasks") ? plan.subtasks : plan;
  if (!Array.isArray(subtasks)) return undefined;
  const read: Part[] = [];
  for (const each of subtasks as unknown[]) {
    if (!isData(each) || Object.keys(each).some((key) => !KNOWN.includes(key))) return undefined;
    const { id, description, agent, depends_on: needs = [] } = each;
    if (typeof id !== "string" || typeof description !== "string") return undefined;
    if (agent !== undefined && agent !== null && typeof agent !== "string") return undefined;
    if (!Array.isArray(needs) || needs.some((need) => typeof need !== "string")) return undefined;
    read.push({ id, description, agent: agent || undefined, depends_on: needs as string[] });
  }
  return read;
}

/** Returns the plan in the form that the server accepts. Members without a value are omitted. */
export function plan(subtasks: readonly Part[]): { subtasks: unknown[] } {
  return {
    subtasks: subtasks.map(({ id, description, agent, depends_on }) => ({
      id,
      description,
      ...(agent ? { agent } : {}),
      ...(depends_on.length > 0 ? { depends_on } : {}),
    })),
  };
}
