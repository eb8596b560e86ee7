// Reads the plan of an interrupt from its run: its versions, its agents, and the statuses of its subtasks.
import { get } from "../../api/client";
import type { Interrupt, List, Plan } from "../../api/types";
import { data, text } from "../card/payload";

/** Returns the plan. Undefined if the interrupt belongs to no planning phase, or if the server is unreachable. */
export async function planOf(interrupt: Interrupt): Promise<Plan | undefined> {
  const phase = text(data(interrupt.payload), "phase");
  if (phase === undefined) return undefined;
  const path = `/v1/runs/${encodeURIComponent(interrupt.run)}/plans`;
  const list = await get<List<Plan>>(path).catch(() => undefined);
  return list?.items.find((plan) => plan.phase === phase);
}
