// A sign for each status, the same as in the terminal: the colour is never the only one.
import type { SubtaskStatus } from "../../api/types";

export const MARKS: Record<SubtaskStatus, string> = {
  pending: "○",
  running: "▶",
  waiting: "‖",
  completed: "✓",
  skipped: "–",
  failed: "✗",
  cancelled: "⊘",
  not_run: "·",
};
