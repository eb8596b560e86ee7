// Describes the approvers of an interrupt.
import type { Assignment, Interrupt, NextEscalation, Quorum } from "../../../api/types";
import { moment } from "../../../parts/age";
import { plain } from "../../../parts/plain";
import { t } from "../../../parts/later/people-words";

/** Returns true if any one admin or operator may decide. The approvers are then not shown. */
export function isUsual({ assignment, votes }: Interrupt): boolean {
  const { approvers, groups = [], quorum, self_approval, stages = [], delegations = [] } = assignment;
  const isNamed = [approvers, groups, stages, delegations, votes ?? []].some((each) => each.length > 0);
  return !isNamed && (quorum.required ?? 1) === 1 && self_approval !== false;
}

export function asked(approvers: readonly string[], groups: readonly string[], quorum: Quorum): string {
  const all = [...approvers.map((name) => plain(name)), ...groups.map((group) => t("assigned.group", { group: plain(group) }))];
  const who = all.join(", ") || t("assigned.anybody");
  if (quorum.roles === "all") return t("assigned.each", { who });
  const { required: n = 1 } = quorum;
  return n > 1 ? t("assigned.of", { n, who }) : who;
}

/** Describes the approvers of the current stage. Includes the operators if they may decide too. */
export function askedOnce(assignment: Assignment): string {
  const who = asked(assignment.approvers, assignment.groups ?? [], assignment.quorum);
  return assignment.operators ? t("assigned.operators", { who }) : who;
}

/** Describes the next escalation: its time, and the approvers after it. */
export function escalated({ at, approvers = [], groups = [], replace }: NextEscalation): string {
  return t(replace ? "assigned.escalates.instead" : "assigned.escalates.too", { time: moment(at), who: asked(approvers, groups, {}) });
}
