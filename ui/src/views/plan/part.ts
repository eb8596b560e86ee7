// A subtask of a plan, and a plan as data that an agent or a person wrote: nothing in it is taken for granted.
import type { SubtaskStatus } from "../../api/types";
import { isData } from "../card/payload";

export interface Part {
  id: string;
  description: string;
  agent?: string;
  depends_on: string[];
}

/** A part where it is drawn. */
export interface Drawn extends Part {
  layer: number;
  row: number;
  status?: SubtaskStatus;
  change?: "added" | "changed";
}

const KNOWN = ["id", "description", "agent", "depends_on"];

/** The subtasks of `{subtasks: […]}` or of a bare list; none where the list could not show all of it. */
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

/** As it is sent: what is not set is not there. */
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
