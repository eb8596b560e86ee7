// The task of a run as one text.
import type { Run } from "../../api/types";
import { text } from "./facts";

export function taskOf(run: Run): string {
  const task = text(run.input, "task");
  if (task) return task;
  // The input of an erased run is empty.
  const input = JSON.stringify(run.input ?? {});
  return input !== "{}" ? input : run.workflow;
}
