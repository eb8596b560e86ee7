// Subtasks of a plan, read from data that an agent or a person wrote. No shape is assumed.
import type { SubtaskStatus } from "../../api/types";
import { isData } from "../card/payload";

export interface Part {
  id: string;
  description: string;
  agent?: string;
  depends_on: string[];
  /** Estimated duration, such as `5 min`. */
  estimated_time?: string;
}

/** A subtask with its position in the graph. */
export interface Drawn extends Part {
  layer: number;
  row: number;
  status?: SubtaskStatus;
  change?: "added" | "changed";
}

const KNOWN = ["id", "description", "agent", "depends_on", "estimated_time"];

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
    const { id, description, agent, depends_on: needs = [], estimated_time: time } = each;
    if (typeof id !== "string" || typeof description !== "string") return undefined;
    if (agent !== undefined && agent !== null && typeof agent !== "string") return undefined;
    if (!Array.isArray(needs) || needs.some((need) => typeof need !== "string")) return undefined;
    if (time !== undefined && time !== null && typeof time !== "string") return undefined;
    read.push({ id, description, agent: agent || undefined, depends_on: needs as string[], estimated_time: time || undefined });
  }
  return read;
}

/** Returns the plan in the form that the server accepts. Members without a value are omitted. */
export function plan(subtasks: readonly Part[]): { subtasks: unknown[] } {
  return {
    subtasks: subtasks.map(({ id, description, agent, depends_on, estimated_time }) => ({
      id,
      description,
      ...(agent ? { agent } : {}),
      ...(depends_on.length > 0 ? { depends_on } : {}),
      ...(estimated_time ? { estimated_time } : {}),
    })),
  };
}
