// How a person stops an agent that is at work, and lets it go on. The one place that knows which verbs do it.
import { post } from "../../api/client";
import type { Interrupt, Run } from "../../api/types";

/** Stops what the run is at now. It waits for words then: what is said next goes on with it. */
export function interrupt(run: string): Promise<Run> {
  return post<Run>(`/v1/runs/${encodeURIComponent(run)}/interrupt`);
}

/** Runs that no agent of ours works on: nobody could hear what is said then. */
const NOBODY = ["external", "undo"];

/** Whether something is at work that a person can interrupt. */
export function isInterruptible({ status, workflow }: Run): boolean {
  return (status === "running" || status === "queued") && !NOBODY.includes(workflow);
}

/** Of a run that is paused. */
export function resume(run: string): Promise<Run> {
  return post<Run>(`/v1/runs/${encodeURIComponent(run)}/resume`);
}

/** The person's turn after an interruption. */
export function isTurn({ kind, position, status }: Interrupt): boolean {
  return kind === "turn" && position === "interruption" && status === "open";
}

/** It goes on as before. */
export function goOn(turn: Interrupt): Promise<Interrupt> {
  return post<Interrupt>(`/v1/interrupts/${encodeURIComponent(turn.id)}/decisions`, { option: "continue" });
}

/** The person's turn after a round: what is said next is that turn. */
export function hearsWords({ kind, options, status }: Interrupt): boolean {
  return kind === "turn" && status === "open" && options.some((option) => option.id === "submit");
}
