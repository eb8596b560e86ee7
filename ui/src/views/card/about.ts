// Facts about an interrupt, by the place on the card: the reason, short facts below the subject, and long facts at the
// end.
import type { Carded, CardFact } from "../../api/types";

/** Facts that the line above the subject, the deadline or the list of approvers shows. */
const ELSEWHERE = [
  ...["asked_by", "asked_at", "risk", "id", "expires", "reminder", "escalates", "snoozed"],
  ...["asked_of", "stage", "stands_in", "vote", "missing", "you"],
];
/** Facts that the page of a run or a conversation already shows above the card. */
const OF_RUN = ["task", "workspace", "model"];
/** Maximum number of letters of a short fact. */
const SHORT = 48;

export interface About {
  reasons: CardFact[];
  short: CardFact[];
  long: CardFact[];
}

/**
 * Sorts the facts. `isOnRun`: the page of the run or the conversation is open. `isHeld`: a note about the freeze is
 * shown. The card of an external agent also says what the freeze disables.
 */
export function about(interrupt: Carded, isOnRun: boolean, isHeld: boolean): About {
  const isFreezeShown = isHeld && interrupt.origin !== "external";
  const hidden = [...ELSEWHERE, ...(isOnRun ? OF_RUN : []), ...(isFreezeShown ? ["frozen"] : [])];
  const facts = interrupt.card.facts
    .filter(({ name }) => !hidden.includes(name))
    // The fact of the task has one line. The card shows the task with its own lines.
    .map((fact) => (fact.name === "task" ? { ...fact, text: interrupt.task ?? fact.text } : fact));
  const isReason = ({ name }: CardFact): boolean => name === "because";
  const isShort = ({ name, text, tone }: CardFact): boolean => tone !== "plain" || (name !== "task" && text.length <= SHORT);
  const others = facts.filter((fact) => !isReason(fact));
  return { reasons: facts.filter(isReason), short: others.filter(isShort), long: others.filter((fact) => !isShort(fact)) };
}
