// The status of a run as a word and a colour.
import type { Run, Status } from "../api/types";
import type { Tone } from "./tone";

export const ofStatus: Record<Status, Tone> = {
  queued: "plain",
  running: "accent",
  waiting: "hold",
  paused: "plain",
  completed: "clear",
  failed: "stop",
  cancelled: "plain",
};

/**
 * Returns the text key and the colour of a run's status. A run that completed only a part of its task is `partial`,
 * not `completed`.
 */
export function stateOf({ status, end_reason: reason }: Pick<Run, "status" | "end_reason">): { name: string; tone: Tone } {
  if (status === "completed" && reason === "partial") return { name: "partial", tone: "hold" };
  return { name: status, tone: ofStatus[status] };
}
