// How a person stops an agent that is at work. The one place that knows which verb does it.
import { post } from "../../api/client";
import type { Run } from "../../api/types";

/** Pauses the run: what is under way comes to its end, and nothing else starts until it is resumed. */
export function interrupt(run: string): Promise<Run> {
  return post<Run>(`/v1/runs/${encodeURIComponent(run)}/pause`);
}

export function resume(run: string): Promise<Run> {
  return post<Run>(`/v1/runs/${encodeURIComponent(run)}/resume`);
}
