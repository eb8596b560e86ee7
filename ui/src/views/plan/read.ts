// Reads the plan of an interrupt from its run: its versions, its agents, and the statuses of its subtasks.
import { get } from "../../api/client";
import type { Interrupt, List, Plan } from "../../api/types";
import { data, text } from "../card/payload";

/** Returns undefined if the interrupt belongs to no planning phase, or the server is away. */
export async function planOf(interrupt: Interrupt): Promise<Plan | undefined> {
  const phase = text(data(interrupt.payload), "phase");
  if (phase === undefined) return undefined;
  const path = `/v1/runs/${encodeURIComponent(interrupt.run)}/plans`;
  const list = await get<List<Plan>>(path).catch(() => undefined);
  return list?.items.find((plan) => plan.phase === phase);
}
