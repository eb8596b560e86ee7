// Which colour a status or an outcome has. One table each.
import type { Outcome, Status, SubtaskStatus } from "../api/types";

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
