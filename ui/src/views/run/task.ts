// What a run is about, in one text.
import type { Run } from "../../api/types";
import { text } from "./facts";

export function taskOf(run: Run): string {
  const task = text(run.input, "task");
  if (task) return task;
  // Nothing is left of the input of a run that was erased.
  const input = JSON.stringify(run.input ?? {});
  return input !== "{}" ? input : run.workflow;
}
