// A symbol for each status, the same as in the terminal. Colour is never the only difference between statuses.
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
