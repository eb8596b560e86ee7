// Sends one decision and stores its result. Typed text is discarded only after success.
import { Problem, post } from "../../../api/client";
import type { CardOption, Decision, Interrupt, Resolution } from "../../../api/types";
import { drafts } from "../../../state/drafts";
import type { FieldError } from "../../../parts/later/errors";
import { Folds } from "../folds.svelte";

export class Deciding {
  /** Parts of the card that were not shown yet. */
  readonly folds = new Folds();
  isSending = $state(false);
  /** The reason why the decision was rejected. */
  problem = $state.raw<Problem>();
  /** The resolution, if the interrupt was resolved before this decision arrived. */
  faster = $state.raw<Resolution>();
  isLate = $state(false);
  /** The id of the option of the last attempt. */
  lastId = $state<string>();
  /** Returns how long the card was visible, in milliseconds. Empty until `viewed.ts` has loaded. */
  viewedMs = (_id: string): { viewed_ms?: number } => ({});

  /** Sends a decision. Returns the interrupt after the decision, or undefined if the decision was rejected. */
  async send(
    interrupt: Interrupt,
    offer: CardOption,
    text: string,
    edit?: unknown,
    also: Pick<Decision, "also" | "also_shown"> = {},
  ): Promise<Interrupt | undefined> {
    if (this.isSending) return undefined;
    this.lastId = offer.id;
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

  /** True if the interrupt was resolved by another decision or has expired. */
  get isOver(): boolean {
    return this.problem?.code === "already_resolved" || this.problem?.code === "expired";
  }

  get errors(): FieldError[] {
    return this.problem?.body.errors ?? [];
  }
}
