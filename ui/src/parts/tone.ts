// Colours of outcomes and colours of subtasks, one table each. `status.ts` has the colours of runs.
import type { Outcome, SubtaskStatus } from "../api/types";

export type Tone = "hold" | "clear" | "stop" | "accent" | "plain";

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
