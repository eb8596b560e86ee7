// Which colour a status or an outcome has. One table each.
import type { Outcome, Run, Status, SubtaskStatus } from "../api/types";

export type Tone = "hold" | "clear" | "stop" | "accent" | "plain";

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

export const ofOutcome: Record<Outcome, Tone> = {
  approved: "clear",
  answered: "accent",
  rejected: "stop",
  expired: "hold",
  cancelled: "plain",
  superseded: "plain",
};

export const ofSubtask: Record<SubtaskStatus, Tone> = {
  pending: "plain",
  running: "accent",
  waiting: "hold",
  completed: "clear",
  skipped: "plain",
  failed: "stop",
  cancelled: "plain",
  not_run: "plain",
};
