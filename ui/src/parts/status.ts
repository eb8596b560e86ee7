// How a run stands, in a word and a colour.
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

/** How a run stands: a key of its words and a colour. One that left a part of its work undone is not simply completed. */
export function stateOf({ status, end_reason: reason }: Pick<Run, "status" | "end_reason">): { name: string; tone: Tone } {
  if (status === "completed" && reason === "partial") return { name: "partial", tone: "hold" };
  return { name: status, tone: ofStatus[status] };
}
