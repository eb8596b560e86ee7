// Sending one decision, and what came of it. What a person typed outlives every answer but success.
import { Problem, post } from "../../../api/client";
import type { Offer, Decision, Interrupt, Resolution } from "../../../api/types";
import { drafts } from "../../../state/drafts";
import type { FieldError } from "../../../parts/later/errors";
import { Folds } from "../folds.svelte";

export class Deciding {
  /** Parts of the card that were not shown yet. */
  readonly folds = new Folds();
  isSending = $state(false);
  /** Why it was not taken. */
  problem = $state.raw<Problem>();
  /** How it ended, where somebody or something was faster. */
  faster = $state.raw<Resolution>();
  isLate = $state(false);
  /** What was tried last. */
  last = $state.raw<Offer>();
  /** How long the card was visible so far, once somebody counts. */
  viewedMs = (_id: string): { viewed_ms?: number } => ({});

  /** The interrupt as it is after the decision; nothing where it was not taken. */
  async send(
    interrupt: Interrupt,
    offer: Offer,
    text: string,
    edit?: unknown,
    also: Pick<Decision, "also" | "also_shown"> = {},
  ): Promise<Interrupt | undefined> {
    if (this.isSending) return undefined;
    this.last = offer;
    this.isSending = true;
    this.problem = undefined;
    const decision: Decision = { option: offer.id, version: interrupt.version, ...this.viewedMs(interrupt.id), ...also };
    if (text.trim() !== "") decision.text = text;
    if (edit !== undefined) decision.edit = edit;
    try {
      const decided = await post<Interrupt>(`/v1/interrupts/${encodeURIComponent(interrupt.id)}/decisions`, decision);
      drafts.forget(interrupt.id);
      return decided;
    } catch (error) {
      this.#refused(error instanceof Problem ? error : new Problem(0, { title: String(error) }));
      return undefined;
    } finally {
      this.isSending = false;
    }
  }

  #refused(problem: Problem): void {
    this.isLate = problem.code === "expired";
    if (this.isLate || problem.code === "already_resolved") this.faster = problem.body.resolution ?? undefined;
    this.problem = problem;
  }

  get isStale(): boolean {
    return this.problem?.code === "stale";
  }

  /** Over: somebody decided, or the time did. */
  get isOver(): boolean {
    return this.problem?.code === "already_resolved" || this.problem?.code === "expired";
  }

  get errors(): FieldError[] {
    return this.problem?.body.errors ?? [];
  }
}
