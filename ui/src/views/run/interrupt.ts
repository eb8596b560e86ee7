// Interrupts a working agent and lets it continue. Only this module uses the API for these actions.
import { post } from "../../api/client";
import type { Interrupt, Run } from "../../api/types";

/** Interrupts the current work of a run. The run then waits for a message before it continues. */
export function interrupt(run: string): Promise<Run> {
  return post<Run>(`/v1/runs/${encodeURIComponent(run)}/interrupt`);
}

/** Workflows without a native agent. Their runs cannot receive messages. */
const NOBODY = ["external", "undo"];

/** Returns true if the run has work that a person can interrupt. */
export function isInterruptible({ status, workflow }: Run): boolean {
  return (status === "running" || status === "queued") && !NOBODY.includes(workflow);
}

/** Resumes a paused run. */
export function resume(run: string): Promise<Run> {
  return post<Run>(`/v1/runs/${encodeURIComponent(run)}/resume`);
}

/** Returns true for the person's turn after an interruption. */
export function isTurn({ kind, position, status }: Interrupt): boolean {
  return kind === "turn" && position === "interruption" && status === "open";
}

/** Continues the run without a message. */
export function goOn(turn: Interrupt): Promise<Interrupt> {
  return post<Interrupt>(`/v1/interrupts/${encodeURIComponent(turn.id)}/decisions`, { option: "continue" });
}

/** Returns true for the person's turn after a round. The next message answers this interrupt. */
export function hearsWords({ kind, options, status }: Interrupt): boolean {
  return kind === "turn" && status === "open" && options.some((option) => option.id === "submit");
}
